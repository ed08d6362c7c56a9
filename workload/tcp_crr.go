package workload

import (
	"time"

	"tare/traffic"
)

// tcpCRR opens a connection for every request.
func tcpCRR() Workload {
	return Workload{
		Name: "tcp_crr", Doc: "connect, one request, one response, FIN: connections per second", TCP: true,
		Slot: 10 * time.Millisecond, Modes: []string{finishing, resetting}, Camel: "TCPCRR", Headline: "rate", Work: PerTransaction,
		Size: Bounds{Default: 1, Least: 1, Most: 16 << 10}, Flows: 1,
		Serve: serving(Run.requestResponse, listenTCP, traffic.ServeTCPCRR, answered),
		Send:  sending(Run.requestResponse, traffic.CallTCPCRR, called),
	}
}
