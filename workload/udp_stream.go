package workload

import (
	"fmt"

	"tare/traffic"
	"tare/traffic/udp"
)

// lateShare is the share of slots that may be late before it is a warning.
const lateShare = 0.01

// udpStream is datagrams at a constant bit rate: loss and jitter.
func udpStream() Workload {
	return Workload{
		Serve: serving(paced, listenUDP, udp.ServeStream, pacedReceived),
		Send:  sending(paced, udp.SendStream, pacedSent),
	}
}

// pacedReceived is what the receiver measured.
func pacedReceived(run Run, got udp.Received) Tally {
	t := received(got)
	t.Metrics["throughput"] = float64(got.Goodput())
	t.Metrics["jitter"] = got.Jitter.Seconds()
	if !run.Spin { // a sender that spins uses a CPU whatever the path costs
		t.Work = float64(got.Bytes) * 8 / gigabit
	}
	addVariation(t.Metrics, got.Delays)
	return t
}

// pacedSent is what the sender offered.
func pacedSent(run Run, sent udp.Sent) Tally {
	t := packetsSent(sent)
	t.Counters = map[string]float64{"late": float64(sent.Late), "skipped": float64(sent.Skipped)}
	t.Warnings = append(t.Warnings, lateSender(sent)...)
	if want, got := run.Rate, float64(sent.OfferedRate()); got < (1-shortfall)*want {
		t.Warnings = append(t.Warnings, fmt.Sprintf("offered-rate: %.3g Mbit/s were sent, where %.3g were asked for", got/1e6, want/1e6))
	}
	return t
}

// lateSender warns of a sender that did not keep its schedule.
func lateSender(sent udp.Sent) []string {
	if slots := float64(sent.Datagrams + sent.Skipped); float64(sent.Late+sent.Skipped) <= lateShare*slots {
		return nil
	}
	return []string{"late-sender: more than 1 % of the slots were late or skipped"}
}

func paced(run Run) (udp.Stream, error) {
	token, err := run.token()
	return udp.Stream{
		Token: token, Window: run.window(), Rate: traffic.BitsPerSecond(run.Rate), Size: run.Size, Spin: run.Spin, SharedClock: run.SharedClock,
	}, err
}

// addVariation adds the percentiles of packet delay variation (RFC 5481), and
// the median of the delay itself where both ends have one clock.
func addVariation(metrics map[string]float64, delays *udp.Delays) {
	if delays == nil || delays.Variation == nil {
		return
	}
	if delays.OneWay != nil {
		if d, ok := delays.OneWay.Quantile(0.5); ok {
			metrics["latency_one_way"] = d.Seconds()
		}
	}
	for _, p := range []struct {
		name string
		q    float64
	}{{"jitter_p50", 0.5}, {"jitter_p99", 0.99}} {
		if d, ok := delays.Variation.Quantile(p.q); ok {
			metrics[p.name] = d.Seconds()
		}
	}
}
