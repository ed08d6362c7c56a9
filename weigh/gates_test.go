package weigh

import (
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// Of what the newer result lacks nothing is known: it breaks each limit.
func TestGatesNeverPassOnNothing(t *testing.T) {
	limit := 0.5
	old := measuredRun(1, 4e10, 0.2, nil)
	old.Plan.Networks = result.NetworksNamed("bridge")
	for name, one := range map[string]struct {
		lose   func(*result.Result)
		reason string
	}{
		"failed": {func(r *result.Result) {
			r.Cells[1].Status, r.Cells[1].Reason, r.Cells[1].Metrics, r.Cells[1].Samples = result.StatusFailed, "no route to host", nil, nil
		}, "failed: no route to host"},
		"failed before its mode was known": {func(r *result.Result) {
			r.Cells[1].Status, r.Cells[1].Reason, r.Cells[1].Mode, r.Cells[1].Metrics = result.StatusFailed, "no host", "", nil
		}, "failed: no host"},
		"skipped": {func(r *result.Result) { r.Cells[1].Status, r.Cells[1].Reason = result.StatusSkipped, "no such path" }, "skipped: no such path"},
		"absent":  {func(r *result.Result) { r.Cells = r.Cells[:1] }, "absent from the newer result"},
		"of other parameters": {func(r *result.Result) {
			for n := range r.Cells {
				r.Cells[n].Params["flows"] = 4.0
			}
		}, "absent from the newer result"},
		"without an interval": {func(r *result.Result) {
			for n := range r.Cells {
				r.Cells[n].Samples = r.Cells[n].Samples[:1]
				if toll := r.Cells[n].Metrics[0].Toll; toll != nil {
					toll.Low, toll.High = nil, nil
				}
			}
		}, "too few blocks for an interval"},
		"empty": {func(r *result.Result) { r.Cells = nil }, "absent from the newer result"},
	} {
		for gate, gates := range map[string]Gates{
			maxToll:       {MaxToll: &limit},
			maxRegression: {MaxRegression: &limit},
		} {
			recent := measuredRun(2, 4e10, 0.2, nil)
			one.lose(recent)
			c := Compare(old, recent, gates)
			found := false
			for _, u := range c.Unmet {
				found = found || u.Gate == gate && strings.HasPrefix(u.Cell, "bridge cross-host") && strings.Contains(u.Reason, one.reason)
			}
			if !found {
				t.Errorf("%s, --%s: %+v, want the bridge: %q", name, gate, c.Unmet, one.reason)
			}
		}
	}
}

// What a plan has and its result has not counts, unless the older result could not have
// it either.
func TestGatesCountWhatThePlanHas(t *testing.T) {
	limit := 0.5
	for name, one := range map[string]struct {
		plan  func(old, recent *result.Plan)
		unmet int
	}{
		"as planned":   {func(_, recent *result.Plan) { recent.Networks = result.NetworksNamed("host", "bridge") }, 0},
		"not measured": {func(_, recent *result.Plan) { recent.Networks = result.NetworksNamed("bridge", "vxlan") }, 1},
		"skipped": {func(_, recent *result.Plan) {
			recent.Skipped = []result.SkippedNetwork{{Name: "ipvlan", Reason: "no ipvlan"}}
		}, 1},
		"never there": {func(old, recent *result.Plan) {
			recent.Skipped = []result.SkippedNetwork{{Name: "ipvlan", Reason: "no ipvlan"}}
			old.Skipped = recent.Skipped
		}, 0},
	} {
		old, recent := measuredRun(1, 4e10, 0.2, nil), measuredRun(2, 4e10, 0.2, nil)
		one.plan(&old.Plan, &recent.Plan)
		labtest.Equal(t, name+": tolls", len(Compare(old, recent, Gates{MaxToll: &limit}).Unmet), one.unmet)
		labtest.Equal(t, name+": regressions", len(Compare(old, recent, Gates{MaxRegression: &limit}).Unmet), one.unmet)
	}
}

// What the older result could not have either is nothing that was lost.
func TestWhatBothSkippedIsNotLost(t *testing.T) {
	limit := 0.5
	old, recent := measuredRun(1, 4e10, 0.2, nil), measuredRun(2, 4e10, 0.2, nil)
	for _, res := range []*result.Result{old, recent} {
		skipped := res.Cells[1]
		skipped.Network, skipped.Status, skipped.Reason, skipped.Metrics, skipped.Samples = "ipvlan", result.StatusSkipped, "no ipvlan", nil, nil
		res.Cells = append(res.Cells, skipped)
	}
	labtest.Equal(t, "unmet, skipped by both", len(Compare(old, recent, Gates{MaxToll: &limit}).Unmet), 0)
	old.Cells = old.Cells[:2]
	labtest.Equal(t, "unmet, skipped by the newer", len(Compare(old, recent, Gates{MaxToll: &limit}).Unmet), 1)
}

func TestWhatMayBeMissingIsNamed(t *testing.T) {
	limit := 0.5
	old, recent := measuredRun(1, 4e10, 0.2, nil), measuredRun(2, 4e10, 0.2, nil)
	recent.Cells[1].Status, recent.Cells[1].Reason, recent.Cells[1].Metrics = result.StatusFailed, "no", nil
	for allowed, unmet := range map[string]int{"bridge": 0, "bridge cross-host tcp_stream": 0, "vxlan": 1, "bridge cross-host tcp_rr": 1} {
		c := Compare(old, recent, Gates{MaxRegression: &limit, AllowMissing: []string{allowed}, Absolute: true})
		labtest.Equal(t, "unmet with "+allowed, len(c.Unmet), unmet)
		labtest.Equal(t, "held with "+allowed, len(c.Held), 1) // the host's
	}
	recent.Cells = recent.Cells[1:]
	c := Compare(old, recent, Gates{MaxToll: &limit, AllowMissing: []string{"bridge"}})
	if len(c.Unmet) != 1 || c.Unmet[0].Reason != "nothing was compared" {
		t.Errorf("with nothing to compare: %+v", c.Unmet)
	}
}

// The host of a busier machine is slower, and so is each network on it.
func TestLimitsHoldTollsUnlessValuesAreAskedFor(t *testing.T) {
	limit := 0.03
	old, busier := measuredRun(1, 4e10, 0.2, nil), measuredRun(2, 2e10, 0.2, nil)
	labtest.Equal(t, "unmet", len(Compare(old, busier, Gates{MaxRegression: &limit}).Unmet), 0)
	labtest.Equal(t, "unmet of values", len(Compare(old, busier, Gates{MaxRegression: &limit, Absolute: true}).Unmet), 2)
}

// Of a network that no host was weighed beside only values are known.
func TestLimitsWithoutAHostAreUnknown(t *testing.T) {
	limit := 0.03
	alone := func(seed uint64) *result.Result {
		res := measuredRun(seed, 4e10, 0.2, nil)
		res.Cells = res.Cells[1:]
		res.Cells[0].Metrics[0].Toll = nil
		return res
	}
	c := Compare(alone(1), alone(2), Gates{MaxRegression: &limit})
	if len(c.Unmet) != 1 || !c.Unmet[0].Unknown || !strings.Contains(c.Unmet[0].Reason, "--absolute") {
		t.Errorf("without a host: %+v", c.Unmet)
	}
	limit = 1
	labtest.Equal(t, "unmet of values", len(Compare(alone(1), alone(2), Gates{MaxRegression: &limit, Absolute: true}).Unmet), 0)
}

// What is the same measurement is no regression, without any interval.
func TestResultIsNoRegressionOfItself(t *testing.T) {
	limit := 0.0
	short := func(seed uint64) *result.Result {
		res := measuredRun(seed, 4e10, 0.2, nil)
		for n := range res.Cells {
			res.Cells[n].Samples = res.Cells[n].Samples[:2]
		}
		return res
	}
	labtest.Equal(t, "unmet", len(Compare(short(1), short(1), Gates{MaxRegression: &limit}).Unmet), 0)
	c := Compare(short(1), short(2), Gates{MaxRegression: &limit})
	if len(c.Unmet) != 1 || !c.Unmet[0].Unknown {
		t.Errorf("of another: %+v, want one that is not known", c.Unmet)
	}
	for _, u := range Compare(short(1), short(2), Gates{MaxRegression: &limit, AllowMissing: []string{"bridge"}}).Unmet {
		labtest.NotEqual(t, "what may be missing is not known", u.Cell, "bridge cross-host tcp_stream")
	}
}

// What was held is in the comparison, met or not.
func TestHeldValuesHaveTheirIntervals(t *testing.T) {
	low, high := 0.1, 0.3
	res := measuredRun(1, 4e10, 0.2, nil)
	for _, limit := range []float64{low, high} {
		c := Compare(res, res, Gates{MaxToll: &limit})
		if len(c.Held) != 1 || c.Held[0].Low > 0.2 || c.Held[0].High < 0.2 || c.Held[0].Metric != "throughput" {
			t.Fatalf("held %+v", c.Held)
		}
		labtest.Equal(t, "met", c.Held[0].Met, limit == high)
		exact := c.Held[0].Low
		labtest.Equal(t, "met at the limit itself", Compare(res, res, Gates{MaxToll: &exact}).Held[0].Met, true)
	}
}
