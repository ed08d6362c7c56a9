package workload

import (
	"context"
	"net/netip"

	"tare/traffic"
)

// udpPPS is the largest rate of small datagrams.
func udpPPS() Workload {
	return Workload{
		Name: "udp_pps", Doc: "small datagrams as fast as they go: packets received per second",
		Modes: []string{string(traffic.Mmsg), string(traffic.Msg)}, Headline: "rate", Work: PerTransaction,
		Size: Bounds{Default: 64, Least: traffic.HeaderBytes, Most: traffic.MaxDatagram}, Flows: 1,
		Serve: func(ctx context.Context, run Run, bind netip.AddrPort, ready func(netip.AddrPort) error) (Tally, error) {
			s, err := pps(run)
			if err != nil {
				return Tally{}, err
			}
			got, err := servePackets(ready, bind, func(l *traffic.PacketListener) (traffic.UDPReceived, error) {
				return traffic.ServeUDPPPS(ctx, l, s)
			})
			if err != nil {
				return Tally{}, err
			}
			t := received(got)
			t.Metrics["rate"] = got.Rate()
			t.Work = float64(got.Datagrams)
			return t, nil
		},
		Send: func(ctx context.Context, run Run, to netip.AddrPort) (Tally, error) {
			s, err := pps(run)
			if err != nil {
				return Tally{}, err
			}
			sent, err := traffic.SendUDPPPS(ctx, to, s)
			if err != nil {
				return Tally{}, err
			}
			return packetsSent(sent), nil
		},
	}
}

func pps(run Run) (traffic.UDPPPS, error) {
	token, err := run.token()
	return traffic.UDPPPS{Token: token, Window: run.window(), Mode: traffic.Mode(run.Mode), Size: run.Size}, err
}

// servePackets listens for datagrams and receives one run.
func servePackets(ready func(netip.AddrPort) error, bind netip.AddrPort, run func(*traffic.PacketListener) (traffic.UDPReceived, error)) (traffic.UDPReceived, error) {
	return serve(ready, func() (*traffic.PacketListener, error) { return traffic.ListenUDP(bind) }, run)
}

// received is what every run of datagrams tells at the receiver.
func received(got traffic.UDPReceived) Tally {
	t := Tally{
		Metrics: map[string]float64{"loss": got.Loss()},
		Counters: map[string]float64{
			"datagrams": float64(got.Datagrams), "lost": float64(got.Lost), "duplicates": float64(got.Duplicates),
			"reordered": float64(got.Reordered), "receiver_drops": float64(got.BufferDrops), "receive_buffer": float64(got.ReceiveBuffer),
		},
		Warnings: strangers(got.Strangers), Window: got.Elapsed,
	}
	if len(got.Series) > 0 {
		t.Series = map[string][]float64{"rate": rates(got.Series, 1)}
	}
	return t
}

// packetsSent is what every run of datagrams tells at the sender.
func packetsSent(sent traffic.UDPSent) Tally {
	t := Tally{Metrics: map[string]float64{"sender_drops": float64(sent.Drops)}}
	if span := sent.Elapsed.Seconds(); span > 0 {
		t.Metrics["offered_rate"] = float64(sent.Datagrams) / span
	}
	return t
}
