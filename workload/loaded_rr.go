package workload

import (
	"time"

	"tare/traffic"
	"tare/traffic/tcpstream"
)

// loadedRR is round trips on a path that other connections fill.
func loadedRR() Workload {
	return Workload{
		Serve: serving(loaded, listenTCP, tcpstream.ServeLoadedRR, loadArrived),
		Send:  sending(loaded, tcpstream.CallLoadedRR, loadedCalled),
	}
}

func loaded(run Run) (tcpstream.LoadedRR, error) {
	token, err := run.token()
	return tcpstream.LoadedRR{
		Token: token, Window: run.window(), Load: run.Flows, Size: run.Size, Rate: traffic.BitsPerSecond(run.Rate),
	}, err
}

// loadArrived is the bulk data as it arrived: its window and steps are not the run's,
// which the round trips have.
func loadArrived(run Run, s tcpstream.LoadedServed) Tally {
	t := streamTally(tcpstream.End{Received: s.Received, Congestion: s.Congestion, Unauthenticated: s.Unauthenticated}, true, false, run.Rate)
	t.Window, t.Work, t.Series = 0, 0, nil
	return t
}

// loadedCalled is the driving end's tally.
func loadedCalled(run Run, c tcpstream.LoadedCalls) Tally {
	t := streamTally(tcpstream.End{Sent: c.Sent, Congestion: c.Congestion}, false, true, run.Rate)
	t.Window, t.Series = c.Elapsed, nil
	t.addSteps("rate", c.Transactions.Series, 1)
	t.addTrips(c.Trips)
	t.Work = float64(c.Sent.OfferedRate()) * t.Window.Seconds() / gigabit
	addPercentiles(t.Metrics, "rtt", c.RTT)
	if mean := t.Metrics["rtt_mean"]; mean > 0 {
		t.Metrics["rpm"] = time.Minute.Seconds() / mean
	}
	t.Counters["probes"] = float64(c.Count)
	return t
}
