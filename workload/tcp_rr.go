package workload

import (
	"time"

	"tare/traffic"
)

// tcpRR is a closed loop of requests and responses over TCP.
func tcpRR() Workload {
	return Workload{
		Name: "tcp_rr", Doc: "round trips over TCP, a closed loop on each connection, or an open loop at a rate", TCP: true,
		Modes: []string{waiting, Spinning}, RateUnit: PerSecond, Slot: 3 * time.Millisecond, Camel: "TCPRR", Headline: "rtt_p50", Work: PerTransaction,
		Size: Bounds{Default: 1, Least: 1, Most: 1 << 20}, Flows: 1024,
		Serve: serving(Run.requestResponse, listenTCP, traffic.ServeTCPRR, answered),
		Send:  sending(Run.requestResponse, traffic.CallTCPRR, called),
	}
}
