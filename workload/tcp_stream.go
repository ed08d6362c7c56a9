package workload

import (
	"fmt"

	"tare/traffic"
	"tare/traffic/tcpstream"
)

const gigabit = 1e9

// tcpStream is bulk data over TCP, as fast as the path carries it.
func tcpStream() Workload {
	return Workload{
		Serve: serving(stream, listenTCP, tcpstream.Serve, func(run Run, end tcpstream.End) Tally {
			return streamTally(end, true, !run.Bidir, run.Rate)
		}),
		Send: sending(stream, tcpstream.Send, func(run Run, end tcpstream.End) Tally {
			return streamTally(end, !run.Bidir, true, run.Rate)
		}),
	}
}

func stream(run Run) (tcpstream.Options, error) {
	token, err := run.token()
	s := tcpstream.Options{
		Token: token, Window: run.window(), Mode: tcpstream.Mode(run.Mode), Flows: run.Flows, WriteBytes: run.Size,
		Rate: traffic.BitsPerSecond(run.Rate), Bytes: run.Bytes, SharedCPU: run.SharedCPU,
	}
	switch {
	case run.Bidir:
		s.Direction = tcpstream.Bidirectional
	case run.Reverse:
		s.Direction = tcpstream.Reverse
	}
	return s, err
}

// backwards marks what belongs to the direction from the serving end where
// both ends send. The metrics are those of the other direction, throughput
// that of the serving end's receiver.
const backwards = "_reverse"

// streamTally is what an end measured. Where both ends send, the metrics are those
// of what the driving end sent: receives and sends name the halves of this
// end that belong to them.
func streamTally(end tcpstream.End, receives, sends bool, rate float64) Tally {
	t := Tally{
		Metrics: map[string]float64{}, Series: map[string][]float64{}, Counters: map[string]float64{},
		CC: end.Congestion, Warnings: unknownPeers(end.Unauthenticated),
	}
	switch {
	case end.Received == nil:
	case receives:
		addReceived(&t, end.Received)
	default:
		t.Counters["throughput"+backwards] = float64(end.Received.Goodput())
		t.addSteps("throughput"+backwards, end.Received.Series, 8)
	}
	if end.Received != nil && end.Received.Undrained > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("undrained: %d flows were not empty 2 s after the window", end.Received.Undrained))
	}
	switch {
	case end.Sent == nil:
		return t
	case sends:
		t.Metrics["retransmits"] = float64(end.Sent.Retransmits())
		addSent(&t, end.Sent, "")
	default:
		t.Counters["retransmits"+backwards] = float64(end.Sent.Retransmits())
		addSent(&t, end.Sent, backwards)
	}
	if end.Received != nil && receives { // the CPU worked for both directions
		t.Work += float64(end.Sent.OfferedRate()) * t.Window.Seconds() / gigabit
	}
	if float64(end.Sent.OfferedRate()) < (1-shortfall)*rate {
		t.Warnings = append(t.Warnings, fmt.Sprintf("offered-rate: less than %.0f Mbit/s as asked for", rate/1e6))
	}
	return t
}

// addReceived adds what the run's receiver measured.
func addReceived(t *Tally, got *tcpstream.Received) {
	t.Metrics["throughput"] = float64(got.Goodput())
	t.Window = got.Elapsed()
	t.Work = float64(got.Bytes()) * 8 / gigabit
	t.Counters["bytes"] = float64(got.Bytes())
	t.addSteps("throughput", got.Series, 8)
	t.addTaken("throughput", got.Taken, 8)
	addSteadiness(t, t.Series["throughput"])
	if even, ok := got.Fairness(); ok {
		t.Metrics["fairness"] = even
	}
}

// addSent adds what the sender knows of its connections.
func addSent(t *Tally, sent *tcpstream.Sent, suffix string) {
	t.Counters["write_bytes"+suffix] = float64(sent.WriteBytes)
	t.Counters["offered_throughput"+suffix] = float64(sent.OfferedRate())
	if sent.Skipped > 0 {
		t.Counters["skipped"+suffix] = float64(sent.Skipped)
	}
	for _, flow := range sent.Flows {
		t.Counters["mss"+suffix] = float64(flow.MSS)
		t.Counters["cwnd"+suffix] += float64(flow.CongestionWindow)
		t.Counters["rtt"+suffix] += flow.RTT.Seconds() / float64(len(sent.Flows))
		t.Counters["rtt_min"+suffix] += flow.MinRTT.Seconds() / float64(len(sent.Flows))
		t.Counters["path_mtu"+suffix] = float64(flow.PathMTU)
		t.Counters["pacing_rate"+suffix] += float64(flow.PacingRate)
		t.Counters["timeouts"+suffix] += float64(flow.Timeouts)
		t.Counters["duplicates"+suffix] += float64(flow.Duplicates)
		t.Counters["reorderings"+suffix] += float64(flow.Reorderings)
		if flow.AppLimited {
			t.Counters["app_limited"+suffix]++
		}
		t.Counters["busy"+suffix] += flow.Busy.Seconds()
		t.Counters["rwnd_limited"+suffix] += flow.ReceiverLimited.Seconds()
		t.Counters["sndbuf_limited"+suffix] += flow.SendBufferLimited.Seconds()
	}
	var before int64
	for _, p := range sent.Series[min(1, len(sent.Series)):] { // the first point is the window's opening
		t.Series["retransmits"+suffix] = append(t.Series["retransmits"+suffix], float64(p.Retransmits-before))
		before = p.Retransmits
		t.Series["cwnd"+suffix] = append(t.Series["cwnd"+suffix], float64(p.CongestionWindow))
		t.Series["rtt"+suffix] = append(t.Series["rtt"+suffix], p.RTT.Seconds())
	}
}
