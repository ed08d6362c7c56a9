package workload

import (
	"context"
	"net/netip"

	"tare/traffic"
)

// udpRR is a closed loop of requests and responses over UDP.
func udpRR() Workload {
	return Workload{
		Name: "udp_rr", Doc: "round trips over UDP, a closed loop on each socket, or an open loop at a rate",
		Modes: []string{waiting, Spinning}, RateUnit: PerSecond, Camel: "UDPRR", Headline: "rtt_p50", Work: PerTransaction,
		Size: Bounds{Default: traffic.HeaderBytes, Least: traffic.HeaderBytes, Most: traffic.MaxDatagram}, Flows: 1024,
		Serve: func(ctx context.Context, run Run, bind netip.AddrPort, ready func(netip.AddrPort) error) (Tally, error) {
			token, err := run.token()
			if err != nil {
				return Tally{}, err
			}
			c := run.requestResponse(token)
			served, err := serve(ready,
				func() (*traffic.PacketListener, error) { return traffic.ListenUDP(bind) },
				func(l *traffic.PacketListener) (traffic.Served, error) { return traffic.ServeUDPRR(ctx, l, c) })
			return answered(served), err
		},
		Send: func(ctx context.Context, run Run, to netip.AddrPort) (Tally, error) {
			return call(ctx, run, to, traffic.CallUDPRR)
		},
	}
}
