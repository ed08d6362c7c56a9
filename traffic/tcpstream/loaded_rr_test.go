package tcpstream

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"tare/test/labtest"
	"tare/test/traffictest"
	"tare/traffic"
)

func runLoadedRR(t testing.TB, c LoadedRR) (LoadedServed, LoadedCalls) {
	t.Helper()
	l := traffictest.ListenTCP(t)
	return traffictest.MustRun(t,
		func(ctx context.Context) (LoadedServed, error) { return ServeLoadedRR(ctx, l, c) },
		func(ctx context.Context) (LoadedCalls, error) { return CallLoadedRR(ctx, l.Addr(), c) })
}

func TestLabLoadedRR(t *testing.T) {
	window := traffic.Window{Warmup: 50 * time.Millisecond, Duration: 200 * time.Millisecond, Interval: 20 * time.Millisecond}
	for name, c := range map[string]LoadedRR{
		"one flow":   {},
		"many flows": {Load: 5, Size: MaxProbe},
		"at a rate":  {Load: 2, Rate: 50e6},
	} {
		t.Run(name, func(t *testing.T) {
			c.Token, c.Window = traffictest.Token, window
			served, calls := runLoadedRR(t, c)
			due := int64(ProbeRate * calls.Elapsed.Seconds())
			if n := calls.RTT.Count(); n < due/2 || n > due*3/2 || served.Transactions < calls.Count {
				t.Errorf("%d round trips of about %d, %d answers", n, due, served.Transactions)
			}
			if flows := max(c.Load, 1); len(calls.Sent.Flows) != flows || len(served.Received.Flows) != flows {
				t.Errorf("%d flows sent and %d arrived, want %d", len(calls.Sent.Flows), len(served.Received.Flows), flows)
			}
			got := served.Received.Goodput()
			if got <= 0 || labtest.Timed(t) && c.Rate > 0 && (got < c.Rate*8/10 || got > c.Rate*12/10) {
				t.Errorf("the load is %.0f bit/s, %.0f were asked for", float64(got), float64(c.Rate))
			}
			if calls.Congestion == "" || calls.Congestion != served.Congestion {
				t.Errorf("congestion control %q and %q", calls.Congestion, served.Congestion)
			}
			traffictest.CheckSeries(t, calls.Series, window)
			if len(calls.Trips) != int(window.Duration/window.Interval) {
				t.Fatalf("%d steps have percentiles", len(calls.Trips))
			}
			for n, step := range calls.Trips {
				if step.P50 <= 0 || step.P90 < step.P50 {
					t.Errorf("step %d: p50 %v, p90 %v", n, step.P50, step.P90)
				}
			}
		})
	}
}

func TestLabLoadLastsAsLongAsTheRoundTrips(t *testing.T) {
	c := LoadedRR{Token: traffictest.Token, Window: traffic.Window{Duration: 150 * time.Millisecond}, Rate: 20e6}
	_, calls := runLoadedRR(t, c)
	if calls.Elapsed < c.Window.Duration || labtest.Timed(t) && calls.Sent.Elapsed < c.Window.Duration*9/10 {
		t.Errorf("the round trips took %v, the load %v", calls.Elapsed, calls.Sent.Elapsed)
	}
}

func TestLoadedRRNeedsAServerOfItsKind(t *testing.T) {
	c := LoadedRR{Token: traffictest.Token, Window: traffictest.ShortWindow, Load: 2}
	stream := Options{Token: traffictest.Token, Window: traffictest.ShortWindow, Flows: 3}
	l := traffictest.ListenTCP(t)
	go func() { _, _ = CallLoadedRR(t.Context(), l.Addr(), c) }()
	traffictest.WantError(t, traffictest.ShortWindow, "announced flows", func(ctx context.Context) error {
		_, err := Serve(ctx, l, stream)
		return err
	})
}

func TestLoadedRRIsChecked(t *testing.T) {
	for name, c := range map[string]LoadedRR{
		"no window": {}, "negative load": {Window: traffictest.ShortWindow, Load: -1}, "size": {Window: traffictest.ShortWindow, Size: MaxProbe + 1},
		"slots": {Window: traffic.Window{Slots: &traffic.Slots{}}}, "rate": {Window: traffictest.ShortWindow, Rate: 1},
	} {
		if _, err := CallLoadedRR(t.Context(), netip.AddrPort{}, c); err == nil {
			t.Errorf("%s: it was called", name)
		}
	}
}

func TestFairness(t *testing.T) {
	flows := func(bytes ...int64) *Received {
		r := &Received{}
		for _, b := range bytes {
			r.Flows = append(r.Flows, FlowReceived{Bytes: b, Elapsed: time.Second})
		}
		return r
	}
	for _, test := range []struct {
		bytes []int64
		want  float64 // 0: not known
	}{
		{[]int64{5}, 0}, {[]int64{0, 0}, 0}, {[]int64{7, 7, 7}, 1}, {[]int64{9, 0, 0, 0}, 0.25}, {[]int64{1, 3}, 0.8},
	} {
		got, known := flows(test.bytes...).Fairness()
		if known != (test.want > 0) || known && (got < test.want-1e-9 || got > test.want+1e-9) {
			t.Errorf("%v: %v %v, want %v", test.bytes, got, known, test.want)
		}
	}
}
