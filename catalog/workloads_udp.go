package catalog

import "time"

// The modes of datagrams that are sent as fast as they go.
const (
	ManyACall = "mmsg" // up to 64 datagrams a call
	OneACall  = "msg"
	Segments  = "gso" // UDP_SEGMENT (Linux 4.18) and UDP_GRO (Linux 5.0)
	Frames    = "xdp" // that a BPF program makes, past the sender's stack (Linux 5.18, root)
)

// Bounds of a datagram, in bytes: the header that counts it, and what IPv4 carries.
const (
	LeastDatagram = 32
	MostDatagram  = 65507
)

// udpWorkloads are bare UDP.
func udpWorkloads() []Workload {
	return []Workload{
		{
			Name: DatagramTrips, Doc: "round trips over UDP, a closed loop on each socket, or an open loop at a rate",
			Modes: []string{Waiting, Spinning}, Headline: "rtt_p50", Work: PerTransaction, Camel: "UDPRR", RateUnit: PerSecond,
			Size: Bounds{Default: LeastDatagram, Least: LeastDatagram, Most: MostDatagram}, Flows: 1024, Slot: 3 * time.Millisecond,
		},
		{
			Name: "udp_stream", Doc: "datagrams at a constant bit rate: loss and jitter",
			Modes: []string{"paced"}, Headline: "throughput", Work: PerGbit, Camel: "UDPStream", Rate: 100e6, RateUnit: PayloadBits,
			Size: Bounds{Default: 1400, Least: LeastDatagram, Most: MostDatagram}, Flows: 1,
		},
		{
			Name: "udp_pps", Doc: "small datagrams as fast as they go: packets received per second",
			Modes: []string{ManyACall, OneACall, Frames, Segments}, Headline: "rate", Work: PerTransaction, Camel: "UDPPPS", RateUnit: PerSecond,
			Size: Bounds{Default: 64, Least: LeastDatagram, Most: MostDatagram}, Flows: 256, Slot: 10 * time.Millisecond,
		},
		{
			Name: "udp_load", Doc: "small datagrams at rising loads: the rate at which loss begins, and what comes past it",
			Modes: []string{ManyACall, Frames}, Headline: "rate", Work: PerTransaction, Camel: "UDPLoad",
			Size: Bounds{Default: 64, Least: LeastDatagram, Most: MostDatagram}, Flows: 1,
		},
	}
}
