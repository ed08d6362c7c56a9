package workload

import (
	"context"
	"net/netip"

	"tare/traffic"
)

// tcpCRR opens a connection for every request.
func tcpCRR() Workload {
	return Workload{
		Name: "tcp_crr", Doc: "connect, one request, one response, FIN: connections per second", TCP: true,
		Modes: []string{finishing, resetting}, Camel: "TCPCRR", Headline: "rate", Work: PerTransaction,
		Size: Bounds{Default: 1, Least: 1, Most: 16 << 10}, Flows: 1,
		Serve: serveTCP(traffic.ServeTCPCRR),
		Send: func(ctx context.Context, run Run, to netip.AddrPort) (Tally, error) {
			return call(ctx, run, to, traffic.CallTCPCRR)
		},
	}
}
