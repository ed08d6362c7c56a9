package workload

import (
	"time"

	"tare/traffic"
)

// udpRR is a closed loop of requests and responses over UDP.
func udpRR() Workload {
	return Workload{
		Name: "udp_rr", Doc: "round trips over UDP, a closed loop on each socket, or an open loop at a rate",
		Slot: 3 * time.Millisecond, Modes: []string{waiting, Spinning}, RateUnit: PerSecond, Camel: "UDPRR", Headline: "rtt_p50", Work: PerTransaction,
		Size: Bounds{Default: traffic.HeaderBytes, Least: traffic.HeaderBytes, Most: traffic.MaxDatagram}, Flows: 1024,
		Serve: serving(Run.requestResponse, listenUDP, traffic.ServeUDPRR, answered),
		Send:  sending(Run.requestResponse, traffic.CallUDPRR, called),
	}
}
