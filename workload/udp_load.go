package workload

import (
	"fmt"

	"tare/traffic/udp"
)

// udpLoad is the curve of what is received over what is offered, and where
// loss begins.
func udpLoad() Workload {
	return Workload{
		Serve: serving(load, listenUDP, udp.ServeLoad, loadReceived),
		Send:  sending(load, udp.SendLoad, loadSent),
	}
}

func load(run Run) (udp.Load, error) {
	token, err := run.token()
	return udp.Load{Token: token, Window: run.window(), Mode: udp.Mode(run.Mode), Size: run.Size, Spin: run.Spin}, err
}

// loadReceived is what the receiver's machine did in each trial.
func loadReceived(_ Run, got udp.LoadReceived) Tally {
	t := Tally{
		Series:   map[string][]float64{"cpu": got.CPU},
		Counters: map[string]float64{"duplicates": float64(got.Duplicates), "receive_buffer": float64(got.ReceiveBuffer)},
		Warnings: unknownPeers(got.Unauthenticated),
	}
	for n, shares := range got.Softirq {
		t.Series[fmt.Sprintf("softirq_cpu%d", n)] = shares
	}
	return t
}

// loadSent is the curve, trial by trial, and what can be read from it. All
// counters but trials and trial_duration (s) are datagrams per second;
// collapse is the share of the most received that is missing at twice the knee.
func loadSent(_ Run, sent udp.LoadSent) Tally {
	t := Tally{
		Metrics: map[string]float64{"rate": sent.NoDropLow},
		Series:  map[string][]float64{},
		Counters: map[string]float64{
			"no_drop_low": sent.NoDropLow, "received_most": sent.Most(),
			"trials": float64(len(sent.Trials)), "trial_duration": sent.Length.Seconds(),
		},
		Window: sent.Elapsed, Work: float64(sent.Datagrams),
	}
	for _, trial := range sent.Trials {
		t.Series["offered"] = append(t.Series["offered"], trial.Offered)
		t.Series["received"] = append(t.Series["received"], trial.Received)
		t.Series["loss"] = append(t.Series["loss"], trial.Loss)
	}
	if sent.NoDropLow == 0 {
		t.Warnings = append(t.Warnings, "no-lower-bound: every load that was tried had loss")
	}
	knee, found := sent.Knee()
	if !found {
		t.Warnings = append(t.Warnings, "tester-limited: nothing was lost at the most that the sender can offer, so the rate is the sender's")
		return t
	}
	t.Counters["no_drop_high"], t.Counters["knee"] = sent.NoDropHigh, knee
	if twice, ok := sent.AtTwiceKnee(); ok {
		t.Counters["received_at_twice_knee"] = twice
		t.Counters["collapse"] = max(1-twice/sent.Most(), 0)
	} else {
		t.Warnings = append(t.Warnings, "twice-knee: the sender could not offer twice the load at which loss begins")
	}
	return t
}
