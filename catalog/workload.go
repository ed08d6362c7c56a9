package catalog

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"tare/result"
)

// Workload is what is known of one kind of traffic.
type Workload struct {
	Name     string
	Doc      string
	Called   []string // what people call it, or measure it by
	TCP      bool     // else UDP
	Modes    []string // the headline mode first
	Headline string   // the metric that a table shows first
	Work     string   // what CPU cost is counted per: "gbit" or "transaction"

	// How tables show it: the metrics next to the headline, nil for the usual ones;
	// the workload whose numbers are in the same table; whether the baseline does
	// something so unlike it that no ratio is shown.
	Columns   []string
	TableWith string
	Unlike    bool
	Camel     string // its name in Go's benchmark format

	Size Bounds // bytes of a message or datagram
	// ModeSize is the size by default of the modes where it is not Size.Default.
	ModeSize map[string]int
	Sizes    string // of its sweep by default, as result.ParseSizes reads them
	Flows    int    // the most flows; 1 where more make no sense

	// FlowsDefault is how many flows there are by default, one cell for
	// each; nil: one flow.
	FlowsDefault []int

	Slot   time.Duration // the least length of a slot; 0: it is measured in windows only
	Settle time.Duration // at the beginning of a slot, where nothing counts; 0: a tenth of it
	// SlotFlows is the most flows that take turns; 0: any number does. Where each has its
	// own thread and meter, many cannot all answer within one slot.
	SlotFlows int

	Rate     float64 // in RateUnit by default, where a rate belongs to the workload
	RateUnit string  // PayloadBits or PerSecond, where the workload takes a rate
	Takes    []Extra // what else of a plan it uses

	Servers  []string // real ones, the one to prefer first
	Tools    []string // real clients
	Pathless bool     // it sends nothing, and needs only the engine of a network
}

// Bounds of a message's size in bytes.
type Bounds struct{ Default, Least, Most int }

// DefaultSize is the size of messages in a mode, in bytes, where none is asked for.
func (w Workload) DefaultSize(mode string) int {
	return cmp.Or(w.ModeSize[mode], w.Size.Default)
}

// Application reports whether the workload is a real application's, with
// connections to a server that stays.
func (w Workload) Application() bool { return len(w.Servers) > 0 }

// Below are the bare workloads that explain an application's toll: of its round trips and
// of its bytes; bulk is empty where each of its messages is one datagram.
func (w Workload) Below() (trips, bulk string) {
	if w.TCP {
		return RoundTrips, Bulk
	}
	return DatagramTrips, ""
}

// MakesContainers reports whether it makes containers and removes them, and has no ends.
func (w Workload) MakesContainers() bool { return w.Modes[0] == closedLoop }

// Ours is how a plan and a cell's parameters name this binary's own server or
// client, where a real one could be used instead.
const Ours = "tare"

// Units of a workload's rate.
const (
	PayloadBits = "bit/s"
	PerSecond   = "1/s"
)

// Extra is a parameter that only some workloads use.
type Extra string

// The extra parameters.
const (
	TakesSizes   Extra = "sizes"
	TakesBytes   Extra = "bytes"
	TakesReverse Extra = "reverse"
	TakesBidir   Extra = "bidir"
	TakesCC      Extra = "cc"
)

// The bare workloads by which the tolls of applications are explained.
const (
	RoundTrips    = "tcp_rr"
	Bulk          = "tcp_stream"
	DatagramTrips = "udp_rr"
)

// Units of work that CPU cost is counted per.
const (
	PerGbit        = "gbit"
	PerTransaction = "transaction"
)

// Workloads lists the workloads in the order of the tables.
func Workloads() []Workload { return slices.Clone(workloads()) }

// workloads is that list, made once, since workloads are looked up in loops. Nothing changes it.
var workloads = sync.OnceValue(func() []Workload {
	return slices.Concat(tcpWorkloads(), udpWorkloads(), applicationWorkloads(), containerWorkloads())
})

// WorkloadsCalled are the workloads that people call so, or measure by a program of that name.
func WorkloadsCalled(word string) []string {
	var names []string
	for _, w := range workloads() {
		if slices.Contains(w.Called, word) {
			names = append(names, w.Name)
		}
	}
	return names
}

// FindWorkload returns a workload by name.
func FindWorkload(name string) (Workload, bool) {
	return result.First(workloads(), func(w Workload) bool { return w.Name == name })
}
