package catalog

import "time"

// Bounds of a datagram, in bytes: the header that counts it, and what IPv4 carries.
const (
	leastDatagram = 32
	mostDatagram  = 65507
)

// udpWorkloads are bare UDP.
func udpWorkloads() []Workload {
	return []Workload{
		{
			Name: DatagramTrips, Doc: "round trips over UDP, a closed loop on each socket, or an open loop at a rate",
			Modes: []string{Waiting, Spinning}, Headline: "rtt_p50", Work: PerTransaction, Camel: "UDPRR", RateUnit: PerSecond,
			Size: Bounds{Default: leastDatagram, Least: leastDatagram, Most: mostDatagram}, Flows: 1024, Slot: 3 * time.Millisecond,
		},
		{
			Name: "udp_stream", Doc: "datagrams at a constant bit rate: loss and jitter",
			Modes: []string{"paced"}, Headline: "throughput", Work: PerGbit, Camel: "UDPStream", Rate: 100e6, RateUnit: PayloadBits,
			Size: Bounds{Default: 1400, Least: leastDatagram, Most: mostDatagram}, Flows: 1,
		},
		{
			Name: "udp_pps", Called: []string{"pps", "packets"}, Doc: "small datagrams as fast as they go: packets received per second",
			Modes: []string{"mmsg", "msg", "xdp", "gso"}, Headline: "rate", Work: PerTransaction, Camel: "UDPPPS", RateUnit: PerSecond,
			Size: Bounds{Default: 64, Least: leastDatagram, Most: mostDatagram}, Flows: 256, Slot: 10 * time.Millisecond,
		},
		{
			Name: "udp_load", Doc: "small datagrams at rising loads: the rate at which loss begins, and what comes past it",
			Modes: []string{"mmsg", "xdp"}, Headline: "rate", Work: PerTransaction, Camel: "UDPLoad",
			Size: Bounds{Default: 64, Least: leastDatagram, Most: mostDatagram}, Flows: 1,
		},
	}
}
