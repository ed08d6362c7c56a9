package workload

import (
	"context"
	"fmt"
	"net/netip"

	"tare/traffic"
)

const gigabit = 1e9

// tcpStream is bulk data over TCP, as fast as the path carries it.
func tcpStream() Workload {
	return Workload{
		Name: "tcp_stream", Doc: "bulk data over TCP: goodput at the receiver", TCP: true,
		Modes: []string{"write128K"}, Headline: "throughput", Work: PerGbit,
		Size: Bounds{Default: 128 << 10, Least: 1, Most: 16 << 20}, Flows: 1000,
		Serve: func(ctx context.Context, run Run, bind netip.AddrPort, ready func(netip.AddrPort) error) (Tally, error) {
			s, err := stream(run)
			if err != nil {
				return Tally{}, err
			}
			got, err := serve(ready, run.listenTCP(bind),
				func(l *traffic.Listener) (traffic.TCPStreamReceived, error) { return traffic.ServeTCPStream(ctx, l, s) })
			if err != nil {
				return Tally{}, err
			}
			return streamReceived(got), nil
		},
		Send: func(ctx context.Context, run Run, to netip.AddrPort) (Tally, error) {
			s, err := stream(run)
			if err != nil {
				return Tally{}, err
			}
			sent, err := traffic.SendTCPStream(ctx, to, s)
			if err != nil {
				return Tally{}, err
			}
			return streamSent(sent), nil
		},
	}
}

func stream(run Run) (traffic.TCPStream, error) {
	token, err := run.token()
	return traffic.TCPStream{Token: token, Window: run.window(), Flows: run.Flows, WriteBytes: run.Size}, err
}

func streamReceived(got traffic.TCPStreamReceived) Tally {
	goodput := float64(got.Goodput())
	t := Tally{
		Metrics: map[string]float64{"throughput": goodput},
		CC:      got.Congestion, Warnings: strangers(got.Strangers),
	}
	for _, flow := range got.Flows {
		t.Window = max(t.Window, flow.Elapsed)
		t.Work += float64(flow.Bytes) * 8 / gigabit
	}
	if len(got.Series) > 0 {
		t.Series = map[string][]float64{"throughput": rates(got.Series, 8)}
	}
	if got.Undrained > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("undrained: %d flows were not empty 2 s after the window", got.Undrained))
	}
	return t
}

func streamSent(sent traffic.TCPStreamSent) Tally {
	t := Tally{
		Metrics:  map[string]float64{"retransmits": float64(sent.Retransmits())},
		Counters: map[string]float64{}, Series: map[string][]float64{},
		CC: sent.Congestion,
	}
	for _, flow := range sent.Flows {
		t.Counters["mss"] = float64(flow.MSS)
		t.Counters["cwnd"] += float64(flow.CongestionWindow)
		t.Counters["rtt"] += flow.RTT.Seconds() / float64(len(sent.Flows))
		t.Counters["busy"] += flow.Busy.Seconds()
		t.Counters["rwnd_limited"] += flow.ReceiverLimited.Seconds()
		t.Counters["sndbuf_limited"] += flow.SendBufferLimited.Seconds()
	}
	var before int64
	for _, p := range sent.Series {
		t.Series["retransmits"] = append(t.Series["retransmits"], float64(p.Retransmits-before))
		t.Series["cwnd"] = append(t.Series["cwnd"], float64(p.CongestionWindow))
		t.Series["rtt"] = append(t.Series["rtt"], p.RTT.Seconds())
		before = p.Retransmits
	}
	return t
}
