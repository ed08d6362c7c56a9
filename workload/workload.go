// Package workload knows what is sent and what is measured: one small file
// each, and one line in All.
//
// A workload is a table entry over the loops of the packages below traffic. It runs in
// the agent at each end; the two ends share only the run's description.
package workload

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/traffic"
)

// Run describes one run to both ends alike.
type Run struct {
	Token     string        `json:"token"` // 32 hexadecimal digits; the data port accepts no other peers
	Mode      string        `json:"mode"`
	Flows     int           `json:"flows"`
	Size      int           `json:"size"`              // bytes of a message or datagram
	Sizes     []int         `json:"sizes,omitempty"`   // bytes of the messages of a sweep, in rising order
	Rate      float64       `json:"rate"`              // in the workload's RateUnit; 0: none asked for
	Bytes     int64         `json:"bytes,omitempty"`   // of payload, after which the run ends before its duration; 0: by time alone
	Reverse   bool          `json:"reverse,omitempty"` // the serving end sends
	Bidir     bool          `json:"bidir,omitempty"`   // both ends send
	Cut       bool          `json:"cut,omitempty"`     // of udp_rr: datagrams may travel in fragments
	CC        string        `json:"cc,omitempty"`      // congestion control to set on the sockets; empty: as the route has it
	Idle      time.Duration `json:"idle,omitempty"`    // of tcp_rr and udp_rr: before the first message
	Warmup    time.Duration `json:"warmup"`
	Duration  time.Duration `json:"duration"`
	Interval  time.Duration `json:"interval"`             // step of the series; 0: no series
	Server    string        `json:"server,omitempty"`     // the real server that it goes to, which knows no token; empty: ours
	Tool      string        `json:"tool,omitempty"`       // the real client that drives it; empty: the engine
	Path      string        `json:"path,omitempty"`       // of requests to a server that is not ours
	Host      string        `json:"host,omitempty"`       // that such requests name
	Boot      string        `json:"boot,omitempty"`       // names the boot of the driving end's machine
	Spin      bool          `json:"spin"`                 // the sender may spin: it has a CPU apart from the receiver's
	Expect    float64       `json:"expect,omitempty"`     // the rate of the cell's last window, 1/s; 0: there was none
	Share     bool          `json:"share,omitempty"`      // of attach: measure the network's share of a container's start as well
	SharedCPU bool          `json:"shared_cpu,omitempty"` // both ends run on the same CPUs, and share their caches
	OwnClocks bool          `json:"own_clocks,omitempty"` // the ends have different clocks, on one machine too

	// Slots are those of the window that count, where the run takes turns with
	// others on the same machine.
	Slots *traffic.Slots `json:"slots,omitempty"`

	// SharedClock: the driving end runs on this machine.
	SharedClock bool `json:"-"`

	// Listener is the TCP port to serve on, where it is shared with others; nil:
	// it opens one.
	Listener *traffic.Listener `json:"-"`

	// Edge is called by the end that owns the window, at its start and at its
	// end, on the thread that moves the data.
	Edge func(end bool) `json:"-"`
}

// Tally is what one end measured.
type Tally struct {
	Metrics  map[string]float64   `json:"metrics,omitempty"`
	Series   map[string][]float64 `json:"series,omitempty"`
	Counters map[string]float64   `json:"counters,omitempty"`
	CC       string               `json:"cc,omitempty"` // congestion control as read back from the socket
	Warnings []string             `json:"warnings,omitempty"`

	// Of the end that owns the window:
	Window time.Duration `json:"window,omitempty"` // its exact length
	Work   float64       `json:"work,omitempty"`   // Gbit or transactions inside it
	CPU    *CPU          `json:"cpu,omitempty"`    // filled by the agent

	// Of a run in slots: what each slot that counts gave, zero where it was late or
	// lost, and that of its second half as a ratio to all of it.
	Slots map[string][]float64 `json:"slots,omitempty"`
	Later map[string][]float64 `json:"later,omitempty"`

	// Filled by the agent: what its process counted, and what could not be read.
	Readings []result.Reading `json:"readings,omitempty"`
	Unread   []result.Unread  `json:"unread,omitempty"`
}

// ThreadBusy is the counter for the share of the window that the data thread
// which owned it was on its CPU.
const ThreadBusy = "thread_busy"

// CPU is what the machine did during a window.
type CPU struct {
	Busy  float64 `json:"busy"`           // s of CPU, all CPUs, softirq and kernel threads included
	Steal float64 `json:"steal"`          // s that the hypervisor took
	Over  float64 `json:"over,omitempty"` // s in which it did, at an end that does not own the window; 0: the window

	// Each is how each CPU spent its time, as probe.CPUSource counts it. Of a run that
	// takes turns: for others it is read around the run.
	Each map[string]float64 `json:"each,omitempty"`
}

// Workload is one kind of traffic: what is known of it, and how it is served and sent.
type Workload struct {
	catalog.Workload
	ServedBy []Server // real servers, in the order of their names in Servers
	DrivenBy []Tool   // real clients, in the order of their names in Tools

	// Serve listens at bind, calls ready with the address once it does, and
	// measures one run. It ends with the run or with the context. nil: only real
	// servers serve it.
	Serve func(ctx context.Context, run Run, bind netip.AddrPort, ready func(netip.AddrPort) error) (Tally, error)
	// Send drives one run against a server.
	Send func(ctx context.Context, run Run, to netip.AddrPort) (Tally, error)

	// Cycle makes containers and removes them for a window, Flows at a time. It
	// replaces Serve and Send, and runs at neither end.
	Cycle func(ctx context.Context, run Run, a Attacher) (Tally, error)
}

// All lists the workloads in the order of the tables.
func All() []Workload { return slices.Clone(all()) }

// all is that list, made once, since workloads are looked up in loops. Nothing changes it.
var all = sync.OnceValue(func() []Workload {
	var list []Workload
	loops := loops()
	for _, facts := range catalog.Workloads() {
		w := loops[facts.Name]()
		w.Workload = facts
		list = append(list, w)
	}
	return list
})

// loops are how the workloads are served and sent, by name.
func loops() map[string]func() Workload {
	return map[string]func() Workload{
		"tcp_stream": tcpStream, "tcp_sizes": tcpSizes, "tcp_rr": tcpRR, "loaded_rr": loadedRR, "tcp_crr": tcpCRR,
		"udp_rr": udpRR, "udp_stream": udpStream, "udp_pps": udpPPS, "udp_load": udpLoad,
		"http": httpRequests, "tls": tlsConnections, "grpc": grpcCalls, "mysql": mysql, "redis": redisRequests, "dns": dnsQueries,
		"lifecycle": lifecycle, "attach": attach,
	}
}

// Find returns a workload by name.
func Find(name string) (Workload, bool) {
	return result.First(all(), func(w Workload) bool { return w.Name == name })
}
