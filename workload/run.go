package workload

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/traffic"
	"tare/traffic/udp"
)

// token reads the run's token.
func (r Run) token() (traffic.Token, error) {
	var token traffic.Token
	secret, err := hex.DecodeString(r.Token)
	if err != nil || len(secret) != len(token) {
		return token, fmt.Errorf("read token: it must be %d hexadecimal digits", 2*len(token))
	}
	copy(token[:], secret)
	return token, nil
}

// window is the run's, with the agent's hook.
func (r Run) window() traffic.Window {
	w := traffic.Window{Warmup: r.Warmup, Duration: r.Duration, Interval: r.Interval, CC: r.CC, Slots: r.Slots, Idle: r.Idle}
	if r.Edge != nil {
		w.Edge = func(e traffic.Edge) { r.Edge(e == traffic.Closing) }
	}
	return w
}

// listenTCP opens the run's port, unless it was given one.
func listenTCP(run Run, bind netip.AddrPort) (*traffic.Listener, error) {
	if run.Listener != nil {
		return run.Listener, nil
	}
	return traffic.ListenTCP(bind)
}

func listenUDP(_ Run, bind netip.AddrPort) (*udp.Listener, error) {
	return udp.Listen(bind)
}

// listening is what both kinds of listener have.
type listening interface {
	Addr() netip.AddrPort
	Close() error
}

// serving makes the Serve of a workload out of a loop of package traffic: ask
// translates the run for the loop, and tally what the loop measured.
func serving[L listening, A, O any](
	ask func(Run) (A, error), listen func(Run, netip.AddrPort) (L, error),
	loop func(context.Context, L, A) (O, error), tally func(Run, O) Tally,
) func(context.Context, Run, netip.AddrPort, func(netip.AddrPort) error) (Tally, error) {
	return func(ctx context.Context, run Run, bind netip.AddrPort, ready func(netip.AddrPort) error) (t Tally, err error) {
		asked, err := ask(run)
		if err != nil {
			return t, err
		}
		l, err := listen(run, bind)
		if err != nil {
			return t, err
		}
		defer func() { err = errors.Join(err, l.Close()) }()
		if err := ready(l.Addr()); err != nil {
			return t, err
		}
		out, err := loop(ctx, l, asked)
		if err != nil {
			return t, err
		}
		return tally(run, out), nil
	}
}

// sending makes the Send of a workload, as serving makes its Serve.
func sending[A, O any](
	ask func(Run) (A, error), loop func(context.Context, netip.AddrPort, A) (O, error), tally func(Run, O) Tally,
) func(context.Context, Run, netip.AddrPort) (Tally, error) {
	return func(ctx context.Context, run Run, to netip.AddrPort) (Tally, error) {
		asked, err := ask(run)
		if err != nil {
			return Tally{}, err
		}
		out, err := loop(ctx, to, asked)
		if err != nil {
			return Tally{}, err
		}
		return tally(run, out), nil
	}
}

// addSteps adds a series over time: a running count as a rate in each step, in
// units of each count. The first point is the window's opening, from which the
// others count.
func (t *Tally) addSteps(name string, points []traffic.Point, each float64) {
	var rates, ends []float64
	for n := 1; n < len(points); n++ {
		before, p := points[n-1], points[n]
		if span := (p.At - before.At).Seconds(); span > 0 {
			rates, ends = append(rates, float64(p.Count-before.Count)*each/span), append(ends, p.At.Seconds())
		}
	}
	if len(rates) == 0 {
		return
	}
	if t.Series == nil {
		t.Series = map[string][]float64{}
	}
	t.Series[name], t.Series[result.StepEnds] = rates, ends
}

// addTrips adds percentiles over time, next to a series of steps, whose last may be missing.
func (t *Tally) addTrips(steps []traffic.Trips) {
	count := len(t.Series[result.StepEnds])
	if len(steps) < count {
		return // the window ended within a step
	}
	for _, s := range steps[:count] {
		t.Series["rtt_p50"] = append(t.Series["rtt_p50"], s.P50.Seconds())
		t.Series["rtt_p90"] = append(t.Series["rtt_p90"], s.P90.Seconds())
	}
}

// addPercentiles adds the mean of "rtt" or "latency", and the usual percentiles
// as far as the number of samples supports them.
func addPercentiles(metrics map[string]float64, of string, h *traffic.Histogram) {
	addQuantiles(metrics, of, h, quantiles{"_p50": 0.5, "_p90": 0.9, "_p99": 0.99, "_p999": 0.999})
}

// quantiles are fractions by what the names of metrics end in.
type quantiles map[string]float64

// addQuantiles is addPercentiles with a choice of them.
func addQuantiles(metrics map[string]float64, of string, h *traffic.Histogram, asked quantiles) {
	for name, q := range asked {
		if d, ok := h.Quantile(q); ok {
			metrics[of+name] = d.Seconds()
		}
	}
	if d, ok := h.Mean(); ok {
		metrics[of+"_mean"] = d.Seconds()
	}
}

// addTaken adds what the slots gave of a metric that is a rate, in units of each
// count. Where they have a window before them, CPU time is counted there, and so is the
// work.
func (t *Tally) addTaken(metric string, taken traffic.Taken, each float64) {
	if len(taken.Slots) == 0 {
		return
	}
	var counted int64
	t.Slots, t.Later = map[string][]float64{}, map[string][]float64{}
	for _, s := range taken.Slots {
		counted += s.Count
		var rate, later float64
		if s.Elapsed > 0 {
			rate = float64(s.Count) * each / s.Elapsed.Seconds()
		}
		if rest := s.Elapsed - s.FirstElapsed; rate > 0 && s.FirstElapsed > 0 && rest > 0 {
			later = float64(s.Count-s.FirstCount) * each / rest.Seconds() / rate
		}
		t.Slots[metric], t.Later[metric] = append(t.Slots[metric], rate), append(t.Later[metric], later)
	}
	if taken.Window.Elapsed > 0 {
		t.Window = taken.Window.Elapsed
		t.Work *= float64(taken.Window.Count) / float64(max(counted, 1))
	}
}

// addMedians adds the median round trip of each slot.
func (t *Tally) addMedians(metric string, taken traffic.Taken) {
	for _, s := range taken.Slots {
		t.Slots[metric] = append(t.Slots[metric], s.Median.Seconds())
	}
}

// unknownPeers warns of peers without the token.
func unknownPeers(n int64) []string {
	if n == 0 {
		return nil
	}
	return []string{"strangers: peers without the run's token sent to the data port"}
}

// called is the driving end's tally of a closed loop.
func called(run Run, done traffic.Transactions) Tally {
	t := Tally{
		Metrics: map[string]float64{"rate": done.Rate()},
		CC:      done.Congestion, Window: done.Elapsed, Work: float64(done.Count),
	}
	addPercentiles(t.Metrics, "rtt", done.RTT)
	addOpenLoop(&t, run, done)
	t.addSteps("rate", done.Series, 1)
	t.addTaken("rate", done.Taken, 1)
	t.addMedians("rtt_p50", done.Taken)
	if done.Lost > 0 {
		t.Metrics["loss"] = float64(done.Lost) / float64(done.Lost+done.Count)
	}
	t.addFailures(done.Failures)
	return t
}

// addFailures adds the connections that failed, by cause, each with a warning.
func (t *Tally) addFailures(failures map[string]int64) {
	for _, cause := range slices.Sorted(maps.Keys(failures)) {
		if t.Counters == nil {
			t.Counters = map[string]float64{}
		}
		t.Counters["failed: "+cause] = float64(failures[cause])
		t.Warnings = append(t.Warnings, "failed-connections: "+cause)
	}
}

// requestResponse is the loop that a run asks for.
func (r Run) requestResponse() (traffic.RequestResponse, error) {
	token, err := r.token()
	return traffic.RequestResponse{
		Token: token, Window: r.window(), Flows: r.Flows, Size: r.Size,
		Rate: r.Rate, OwnCPU: r.Spin, Spin: r.Mode == catalog.Spinning, Reset: r.Mode == catalog.Resetting, Cut: r.Cut,
	}, err
}

// addOpenLoop adds what only a run at a rate measures. A rate that was not
// reached is a warning, and nothing is scaled to it.
func addOpenLoop(t *Tally, run Run, done traffic.Transactions) {
	if run.Rate == 0 {
		return
	}
	t.Metrics["offered_rate"] = done.Offered
	t.Counters = map[string]float64{}
	addService(t.Counters, done.Service)
	if done.Rate() < (1-shortfall)*run.Rate {
		t.Warnings = append(t.Warnings, fmt.Sprintf("rate-not-reached: %.0f of %.0f requests a second were answered", done.Rate(), run.Rate))
	}
}

// shortfall is the share of an asked rate that may be missing before it is
// a warning.
const shortfall = 0.01

// answered is the serving end's tally of a closed loop.
func answered(_ Run, s traffic.Served) Tally {
	return Tally{CC: s.Congestion, Warnings: unknownPeers(s.Unauthenticated)}
}
