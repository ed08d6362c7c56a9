package weigh

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tare/network"
	"tare/result"
	"tare/stats"
)

// measuredRun is a result in which the host carries so much and a bridge less by
// the toll, with noise that the blocks of a run share and noise of each value.
func measuredRun(seed uint64, host, toll float64, change func(*result.Cell)) *result.Result {
	random := rand.New(rand.NewPCG(seed, 1))
	res := &result.Result{ID: fmt.Sprint(seed), Environment: result.Environment{Kernel: "6.1", CPUs: 2}}
	cells := map[string]*result.Cell{}
	for _, name := range []string{network.Baseline, "bridge"} {
		cells[name] = &result.Cell{
			Network: name, Path: network.CrossHost, Workload: "tcp_stream", Mode: "write128K", Status: result.StatusOK,
			Params: result.Params{"nic": "full", "pin": "apart", "mtu": 1500.0, "cc": "cubic", "duration": 0.06, "flows": 1.0},
		}
	}
	for block := range 10 {
		drift := math.Exp(0.2 * random.NormFloat64())
		value := func(mean float64) map[string]float64 {
			return map[string]float64{"throughput": mean * drift * math.Exp(0.005*random.NormFloat64())}
		}
		for _, layout := range []string{LayoutA, LayoutB} {
			cells[network.Baseline].Samples = append(cells[network.Baseline].Samples, result.Sample{Block: block, Layout: layout, Metrics: value(host)})
		}
		cells["bridge"].Samples = append(cells["bridge"].Samples, result.Sample{Block: block, Metrics: value(host * (1 - toll))})
	}
	q := result.Quantity{Name: "throughput", Unit: "bit/s", Better: result.Higher}
	for _, cell := range cells {
		m := metricOf(cell, q)
		if cell.Network != network.Baseline {
			m.Toll = testToll(cell, cells[network.Baseline], q)
		}
		cell.Metrics = []result.Metric{m}
		if change != nil {
			change(cell)
		}
	}
	res.Cells = []result.Cell{*cells[network.Baseline], *cells["bridge"]}
	return res
}

func testToll(cell, baseline *result.Cell, q result.Quantity) *result.Toll {
	return toll(Pairs(BlocksOf(cell, q.Name), BlocksOf(baseline, q.Name)), q, stats.Margins{Declared: stats.DeclaredMargin}, cell, Options{})
}

// theChange is the change of the bridge's throughput.
func theChange(t *testing.T, c result.Comparison, by string) *result.Change {
	t.Helper()
	for _, cell := range c.Cells {
		if cell.Network == "bridge" && len(cell.Metrics) == 1 {
			return cell.Metrics[0].Judged(by)
		}
	}
	t.Fatalf("the bridge is not compared: %+v", c)
	return nil
}

// TestMachineIsNotTheNetwork compares a machine with one of half its speed: the
// network's toll has not changed, and that is what is judged.
func TestMachineIsNotTheNetwork(t *testing.T) {
	limit := 0.03
	old, recent := measuredRun(1, 4e10, 0.2, nil), measuredRun(2, 2e10, 0.2, nil)
	recent.Environment.Kernel = "6.18"
	c := Compare(old, recent, Gates{MaxRegression: &limit})
	switch {
	case c.Judged != result.JudgedByToll:
		t.Errorf("c.Judged is %v, want %v; judged by %s, paired %v, differences %+v", c.Judged, result.JudgedByToll, c.Judged, c.Paired, c.Differ)
	case c.Paired:
		t.Errorf("c.Paired holds; judged by %s, paired %v, differences %+v", c.Judged, c.Paired, c.Differ)
	case len(c.Differ) != 1:
		t.Errorf("len(c.Differ) is %v, want 1; judged by %s, paired %v, differences %+v", len(c.Differ), c.Judged, c.Paired, c.Differ)
	case c.Differ[0].Name != "kernel":
		t.Errorf("c.Differ[0].Name is %v, want \"kernel\"; judged by %s, paired %v, differences %+v", c.Differ[0].Name, c.Judged, c.Paired, c.Differ)
	}
	if change := theChange(t, c, c.Judged); change.Low == nil || math.Abs(change.Value) > 0.02 || change.Verdict != string(stats.Equal) {
		t.Errorf("the toll changed by %+v, want nothing", change)
	}
	if change := theChange(t, c, result.JudgedByValue); math.Abs(change.Value-0.5) > 0.15 {
		t.Errorf("the value changed by %v, want half", change.Value)
	}
	if len(c.Unmet) != 0 {
		t.Errorf("a slower machine is no regression: %+v", c.Unmet)
	}
}

// TestRegressionPassesTheGate takes a tenth away from a network on the same
// machine, whose speed drifts.
func TestRegressionPassesTheGate(t *testing.T) {
	old := measuredRun(1, 4e10, 0.2, nil)
	for _, one := range []struct {
		toll, limit float64
		unmet       int
	}{{0.2, 0.03, 0}, {0.6, 0.03, 1}, {0.6, 0.9, 0}} {
		c := Compare(old, measuredRun(3, 4e10, one.toll, nil), Gates{MaxRegression: &one.limit})
		if len(c.Unmet) != one.unmet {
			t.Errorf("toll %v, limit %v: %+v, want %d", one.toll, one.limit, c.Unmet, one.unmet)
		}
		for _, u := range c.Unmet {
			switch {
			case u.Gate != "max-regression":
				t.Errorf("u.Gate is %v, want \"max-regression\"; unmet %+v", u.Gate, u)
			case u.Metric != "throughput":
				t.Errorf("u.Metric is %v, want \"throughput\"; unmet %+v", u.Metric, u)
			case u.Cell != "bridge cross-host tcp_stream":
				t.Errorf("u.Cell is %v, want \"bridge cross-host tcp_stream\"; unmet %+v", u.Cell, u)
			case u.Low <= one.limit:
				t.Errorf("u.Low is %v, want more than %v; unmet %+v", u.Low, one.limit, u)
			}
		}
	}
}

// TestOneExperimentIsPaired compares two networks that were measured in the same
// blocks: the drift that they share cancels out.
func TestOneExperimentIsPaired(t *testing.T) {
	old, recent := measuredRun(4, 4e10, 0.2, nil), measuredRun(4, 4e10, 0.23, nil)
	paired := Compare(old, recent, Gates{})
	recent.ID = "another"
	unpaired := Compare(old, recent, Gates{})
	a, b := theChange(t, paired, result.JudgedByValue), theChange(t, unpaired, result.JudgedByValue)
	switch {
	case !paired.Paired:
		t.Errorf("paired.Paired is false; paired %+v, unpaired %+v", a, b)
	case unpaired.Paired:
		t.Errorf("unpaired.Paired holds; paired %+v, unpaired %+v", a, b)
	case *a.High-*a.Low > (*b.High-*b.Low)/5:
		t.Errorf("*a.High-*a.Low is %v, want at most %v; paired %+v, unpaired %+v", *a.High-*a.Low, (*b.High-*b.Low)/5, a, b)
	case math.Abs(a.Value-0.0375) > 0.005:
		t.Errorf("math.Abs(a.Value-0.0375) is %v, want at most 0.005; paired %+v, unpaired %+v", math.Abs(a.Value-0.0375), a, b)
	}
}

// TestOnlyWhatIsAlikeIsCompared changes one thing at a time.
func TestOnlyWhatIsAlikeIsCompared(t *testing.T) {
	old := measuredRun(1, 4e10, 0.2, nil)
	for name, one := range map[string]struct {
		change func(*result.Cell)
		cells  int
		differ int
	}{
		"nothing":            {func(*result.Cell) {}, 2, 0},
		"mode":               {func(c *result.Cell) { c.Mode = "sendfile" }, 0, 0},
		"nic":                {func(c *result.Cell) { c.Params["nic"] = "tso" }, 0, 0},
		"pinning":            {func(c *result.Cell) { c.Params["pin"] = "same" }, 0, 0},
		"flows":              {func(c *result.Cell) { c.Params["flows"] = 4.0 }, 0, 0},
		"length of windows":  {func(c *result.Cell) { c.Params["duration"] = 2.0 }, 2, 0},
		"mtu":                {func(c *result.Cell) { c.Params["mtu"] = 9000.0 }, 2, 1},
		"congestion control": {func(c *result.Cell) { c.Params["cc"] = "bbr" }, 2, 1},
	} {
		c := Compare(old, measuredRun(2, 4e10, 0.2, one.change), Gates{})
		if len(c.Cells) != one.cells || len(c.Single) != 2*(2-one.cells) {
			t.Errorf("%s: %d cells compared, %d alone; want %d compared", name, len(c.Cells), len(c.Single), one.cells)
		}
		for _, cell := range c.Cells {
			if len(cell.Differ) != one.differ {
				t.Errorf("%s: differences %+v, want %d", name, cell.Differ, one.differ)
			}
		}
	}
}

// TestCellThatFailsNowIsARegression counts what was measured and no longer is.
func TestCellThatFailsNowIsARegression(t *testing.T) {
	fails := func(c *result.Cell) {
		if c.Network == "bridge" {
			c.Status, c.Reason, c.Mode, c.Metrics = result.StatusFailed, "no route to host", "", nil
		}
	}
	limit := 0.03
	c := Compare(measuredRun(1, 4e10, 0.2, nil), measuredRun(2, 4e10, 0.2, fails), Gates{MaxRegression: &limit})
	switch {
	case len(c.Single) != 1:
		t.Errorf("len(c.Single) is %v, want 1; alone %+v, unmet %+v", len(c.Single), c.Single, c.Unmet)
	case c.Single[0].In != "old":
		t.Errorf("c.Single[0].In is %v, want \"old\"; alone %+v, unmet %+v", c.Single[0].In, c.Single, c.Unmet)
	case c.Single[0].Reason != "failed: no route to host":
		t.Errorf("c.Single[0].Reason is %v, want \"failed: no route to host\"; alone %+v, unmet %+v", c.Single[0].Reason, c.Single, c.Unmet)
	case len(c.Unmet) != 1:
		t.Errorf("len(c.Unmet) is %v, want 1; alone %+v, unmet %+v", len(c.Unmet), c.Single, c.Unmet)
	}
}

func TestTollIsHeldToItsLimit(t *testing.T) {
	res := measuredRun(1, 4e10, 0.2, nil)
	for limit, unmet := range map[float64]int{0.1: 1, 0.3: 0, 0.2: 0} {
		if c := Compare(res, res, Gates{MaxToll: &limit}); len(c.Unmet) != unmet {
			t.Errorf("a toll of 0.2 and a limit of %v: %+v, want %d", limit, c.Unmet, unmet)
		}
	}
}
