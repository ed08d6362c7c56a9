package main

import (
	"fmt"
	"slices"
	"strings"

	"tare/result"
	"tare/traffic/http"
	"tare/workload"
)

// row is one measure of several tools on the same path.
type row struct {
	name, title string
	placements  []string // the headline first
	ours        []subject
	peers       []peer
	claims      []claim
}

// claim is how tare should compare in one metric of a row.
type claim struct {
	ours   string  // the way of tare's run
	metric string  // by its name in a result
	than   string  // the label of the other; empty: the peer with the best median
	bound  float64 // of the ratio tare / other: the least or, where lower is better, the most; 0: it is only shown
}

// The metrics of CPU cost.
const (
	perGbit        = "cpu_per_gbit"
	perTransaction = "cpu_per_transaction"
)

const (
	bulkWrite   = 128 << 10 // bytes of a write
	smallPacket = 64        // bytes of a datagram's payload
	message     = 64        // bytes of a request and of a response
)

// rows lists what is compared.
func rows() []row { return slices.Concat(bulkRows(), smallRows(), httpRows()) }

// bulkRows are about bulk data over TCP.
func bulkRows() []row {
	return []row{
		{
			name: "tcp", title: "TCP, one flow, writes of 128 KiB", placements: []string{apart, same},
			ours:   []subject{stream("write128K", 1)},
			peers:  []peer{iperf3TCP(bulkWrite, 1), iperfTCP(bulkWrite, 1), nuttcpTCP(bulkWrite), qperfTCP(bulkWrite)},
			claims: []claim{{ours: "write128K", metric: "throughput", bound: 0.97}, {ours: "write128K", metric: perGbit, bound: 1}},
		},
		{
			name: "plain", title: "TCP, one flow, writes of 128 KiB, on a plain veth pair, with cubic instead of the machine's control", placements: []string{plain},
			ours:   []subject{stream("write128K", 1)},
			peers:  []peer{iperf3TCP(bulkWrite, 1).with("-C", congestion), iperfTCP(bulkWrite, 1).with("-Z", congestion)},
			claims: []claim{{ours: "write128K", metric: "throughput", bound: 0.97}},
		},
		{
			name: "auto", title: "TCP, one flow, each tool at its best write of 64 KiB to 1 MiB", placements: []string{apart},
			ours: []subject{stream("auto", 1), stream("write128K", 1)},
			peers: slices.Concat(
				atSizes(func(n int) peer { return iperf3TCP(n, 1) }), atSizes(func(n int) peer { return iperfTCP(n, 1) }),
				atSizes(nuttcpTCP), atSizes(qperfTCP)),
			claims: []claim{
				{ours: "auto", metric: "throughput", bound: 1}, {ours: "auto", metric: perGbit, bound: 1},
				{ours: "auto", metric: "throughput", than: ours("write128K")},
			},
		},
		{
			name: "limit", title: "TCP, one flow, compared with what the path carries when the receiver does not copy", placements: []string{apart},
			ours: []subject{stream("rx-trunc", 1), stream("write128K", 1), stream("auto", 1)},
			claims: []claim{
				{ours: "write128K", metric: "throughput", than: ours("rx-trunc")},
				{ours: "auto", metric: "throughput", than: ours("rx-trunc")},
			},
		},
		{
			name: "flows", title: "TCP, eight flows, writes of 128 KiB", placements: []string{apart},
			ours:   []subject{stream("write128K", 8)},
			peers:  []peer{iperf3TCP(bulkWrite, 8), iperfTCP(bulkWrite, 8)},
			claims: []claim{{ours: "write128K", metric: "throughput", bound: 1}, {ours: "write128K", metric: perGbit, bound: 1}},
		},
	}
}

// smallRows are about small messages.
func smallRows() []row {
	return []row{
		{
			name: "udp", title: "UDP, datagrams of 64 bytes, received per second", placements: []string{apart, same},
			ours:  []subject{packets("mmsg"), packets("msg")},
			peers: []peer{iperf3UDP(smallPacket), iperfUDP(smallPacket), nuttcpUDP(smallPacket), sockperfUDP(smallPacket)},
			claims: []claim{
				{ours: "mmsg", metric: "rate", bound: 1.08}, {ours: "mmsg", metric: perTransaction, bound: 1},
				{ours: "msg", metric: "rate", bound: 0.97}, {ours: "msg", metric: perTransaction, bound: 1},
			},
		},
		{
			name: "frames", title: "UDP, datagrams of 64 bytes, received per second, beside frames that a program makes", placements: []string{live},
			ours:   []subject{packets("xdp"), packets("mmsg")},
			peers:  []peer{iperf3UDP(smallPacket), iperfUDP(smallPacket), nuttcpUDP(smallPacket), sockperfUDP(smallPacket)},
			claims: []claim{{ours: "xdp", metric: "rate", bound: 3}, {ours: "xdp", metric: "rate", than: ours("mmsg")}},
		},
		roundTrips("rr", "TCP round trips of 64 bytes", "tcp"),
		roundTrips("udp_rr", "UDP round trips of 64 bytes", "udp"),
		{
			// On one CPU a round trip is cheapest, so that recording weighs most.
			name: "recording", title: "TCP round trips of 64 bytes with histogram and series, and without", placements: []string{same},
			ours:   []subject{recorded(true), recorded(false)},
			claims: []claim{{ours: "recording", metric: "rate", than: ours("not recording"), bound: 0.99}},
		},
	}
}

// httpRows are about clients of the same nginx.
func httpRows() []row {
	return []row{
		{
			name: "connections", title: "HTTP, a connection for each request, to the same nginx", placements: []string{apart},
			ours:   []subject{httpCaller(http.CloseEach)},
			peers:  []peer{abHTTP(false), wrkHTTP(false)},
			claims: []claim{{ours: "close", metric: "rate", bound: 1}, {ours: "close", metric: perTransaction, bound: 1}},
		},
		{
			name: "http", title: "HTTP, ten connections kept, to the same nginx", placements: []string{apart},
			ours:  []subject{httpCaller(http.KeepAlive)},
			peers: []peer{wrkHTTP(true), heyHTTP(), autocannonHTTP(), abHTTP(true)},
			claims: []claim{
				{ours: "keepalive", metric: "rate", than: "wrk", bound: 1}, {ours: "keepalive", metric: "rate", than: "autocannon", bound: 3},
				{ours: "keepalive", metric: perTransaction, bound: 1},
			},
		},
	}
}

// atSizes is a tool at each size of a write that it may choose from.
func atSizes(at func(write int) peer) []peer {
	var all []peer
	for write := 64 << 10; write <= 1<<20; write *= 2 {
		all = append(all, at(write))
	}
	return all
}

// stream is bulk data over TCP.
func stream(mode string, flows int) engine {
	return engine{way: mode, workload: "tcp_stream", run: workload.Run{Mode: mode, Size: bulkWrite, Flows: flows}}
}

// packets is small datagrams as fast as they go.
func packets(mode string) engine {
	return engine{way: mode, workload: "udp_pps", run: workload.Run{Mode: mode, Size: smallPacket}}
}

// roundTrips compares the closed loops over "tcp" or "udp". qperf prints only a
// mean, so means are a separate claim.
func roundTrips(name, title, protocol string) row {
	return row{
		name: name, title: title, placements: []string{apart, same},
		ours:  []subject{engine{way: "block", workload: protocol + "_rr", run: workload.Run{Mode: "block", Size: message}}},
		peers: []peer{sockperfRR(protocol, message), qperfRR(protocol, message)},
		claims: []claim{
			{ours: "block", metric: "rtt_p50", bound: 1}, {ours: "block", metric: "rtt_p99", bound: 1.1},
			{ours: "block", metric: "rtt_mean", bound: 1}, {ours: "block", metric: perTransaction, bound: 1},
		},
	}
}

func rowNames() []string {
	return result.Names(rows(), func(r row) string { return r.name })
}

// chooseRows finds rows by a comma list of their names; empty: all.
func chooseRows(list string) ([]row, error) {
	if list == "" {
		return rows(), nil
	}
	var chosen []row
	for _, name := range strings.Split(list, ",") {
		n := slices.IndexFunc(rows(), func(r row) bool { return r.name == name })
		if n < 0 {
			return nil, fmt.Errorf("row %q: unknown: choose from %s", name, strings.Join(rowNames(), ", "))
		}
		chosen = append(chosen, rows()[n])
	}
	return chosen, nil
}
