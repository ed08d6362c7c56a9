package catalog

import "time"

// The modes of round trips.
const (
	Waiting   = "block" // in the kernel
	Spinning  = "spin"  // asks the kernel again and again
	Finishing = "fin"   // the server closes first
	Resetting = "rst"   // the client resets
)

// The modes of message sizes. The headline is NoDelay: every message then leaves on its own, as those of
// most servers do, so that what the path costs for each shows; with Nagle's rule small ones travel joined,
// and the sweep shows system calls more than the path.
const (
	NoDelay = "nodelay"
	Nagle   = "nagle"
)

// SweptSizes are the sizes of a sweep by default, as result.ParseSizes reads them.
const SweptSizes = "1:4K:*2,8:256K:*2"

// tcpWorkloads are bare TCP.
func tcpWorkloads() []Workload {
	return []Workload{
		{
			Name: Bulk, Called: []string{"iperf", "iperf3", "throughput", "bandwidth", "netperf"}, Doc: "bulk data over TCP: goodput at the receiver", TCP: true,
			Modes: []string{"write128K", "auto", "sendfile", "rx-trunc"}, Headline: "throughput", Work: PerGbit,
			TableWith: RoundTrips, Camel: "TCPStream", RateUnit: PayloadBits,
			Size: Bounds{Default: 128 << 10, Least: 1, Most: 16 << 20}, Flows: 1000,
			Slot: 20 * time.Millisecond, Settle: 4 * time.Millisecond, SlotFlows: 2,
			Takes: []Extra{TakesBytes, TakesReverse, TakesBidir, TakesCC},
		},
		{
			Name: "tcp_sizes", Doc: "message sizes over TCP: goodput and round trip of each, time per message and per byte", TCP: true,
			Modes: []string{NoDelay, Nagle}, Headline: "throughput", Work: PerGbit, Camel: "TCPSizes",
			Size: Bounds{Default: 256 << 10, Least: 1, Most: 16 << 20}, Sizes: SweptSizes, Flows: 1,
			Takes: []Extra{TakesSizes, TakesCC},
		},
		{
			Name: RoundTrips, Called: []string{"ping", "latency", "rtt", "qperf", "sockperf", "netperf"}, Doc: "round trips over TCP, a closed loop on each connection, or an open loop at a rate", TCP: true,
			Modes: []string{Waiting, Spinning}, Headline: "rtt_p50", Work: PerTransaction, Camel: "TCPRR", RateUnit: PerSecond,
			Size: Bounds{Default: 1, Least: 1, Most: 1 << 20}, Flows: 1024, Slot: 3 * time.Millisecond,
		},
		{
			Name: "loaded_rr", Doc: "round trips over TCP while bulk data fills the path: latency under load", TCP: true,
			Modes: []string{Waiting}, Headline: "rtt_p50", Work: PerGbit, Camel: "LoadedRR", RateUnit: PayloadBits,
			Columns: []string{"rtt_p99", "rpm", "throughput", "fairness", "cpu_per_gbit"},
			Size:    Bounds{Default: 1, Least: 1, Most: 1400}, Flows: 1000, FlowsDefault: []int{4},
		},
		{
			Name: "tcp_crr", Called: []string{"connections", "connect"}, Doc: "connect, one request, one response, FIN: connections per second", TCP: true,
			Modes: []string{Finishing, Resetting}, Headline: "rate", Work: PerTransaction, Camel: "TCPCRR",
			Size: Bounds{Default: 1, Least: 1, Most: 16 << 10}, Flows: 1, Slot: 10 * time.Millisecond,
		},
	}
}
