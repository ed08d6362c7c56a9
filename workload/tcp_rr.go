package workload

import (
	"context"
	"net/netip"

	"tare/traffic"
)

// tcpRR is a closed loop of requests and responses over TCP.
func tcpRR() Workload {
	return Workload{
		Name: "tcp_rr", Doc: "round trips over TCP, a closed loop on each connection, or an open loop at a rate", TCP: true,
		Modes: []string{waiting, Spinning}, RateUnit: PerSecond, Camel: "TCPRR", Headline: "rtt_p50", Work: PerTransaction,
		Size: Bounds{Default: 1, Least: 1, Most: 1 << 20}, Flows: 1024,
		Serve: serveTCP(traffic.ServeTCPRR),
		Send: func(ctx context.Context, run Run, to netip.AddrPort) (Tally, error) {
			return call(ctx, run, to, traffic.CallTCPRR)
		},
	}
}

// answerer is one of the closed loops' serving ends over TCP.
type answerer func(context.Context, *traffic.Listener, traffic.RequestResponse) (traffic.Served, error)

// serveTCP serves a closed loop over TCP.
func serveTCP(loop answerer) func(context.Context, Run, netip.AddrPort, func(netip.AddrPort) error) (Tally, error) {
	return func(ctx context.Context, run Run, bind netip.AddrPort, ready func(netip.AddrPort) error) (Tally, error) {
		token, err := run.token()
		if err != nil {
			return Tally{}, err
		}
		c := run.requestResponse(token)
		served, err := serve(ready, run.listenTCP(bind),
			func(l *traffic.Listener) (traffic.Served, error) { return loop(ctx, l, c) })
		return answered(served), err
	}
}
