package weigh

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/test/labtest"
)

// measuredRun is a result in which the host carries so much and a bridge less by
// the toll, with noise that the blocks of a run share and noise of each value.
func measuredRun(seed uint64, host, toll float64, change func(*result.Cell)) *result.Result {
	random := rand.New(rand.NewPCG(seed, 1))
	res := &result.Result{ID: fmt.Sprint(seed), Environment: result.Environment{Kernel: "6.1", CPUs: 2}}
	cells := map[string]*result.Cell{}
	for _, name := range []string{catalog.Baseline, "bridge"} {
		cells[name] = &result.Cell{
			Network: name, Path: catalog.CrossHost, Workload: "tcp_stream", Mode: "write128K", Status: result.StatusOK,
			Params: result.Params{"nic": "full", "pin": "apart", "mtu": 1500.0, "cc": "cubic", "duration": 0.06, "flows": 1.0},
		}
	}
	for block := range 10 {
		drift := math.Exp(0.2 * random.NormFloat64())
		value := func(mean float64) map[string]float64 {
			return map[string]float64{"throughput": mean * drift * math.Exp(0.005*random.NormFloat64())}
		}
		for _, layout := range []string{LayoutA, LayoutB} {
			cells[catalog.Baseline].Samples = append(cells[catalog.Baseline].Samples, result.Sample{Block: block, Layout: layout, Metrics: value(host)})
		}
		cells["bridge"].Samples = append(cells["bridge"].Samples, result.Sample{Block: block, Metrics: value(host * (1 - toll))})
	}
	q := result.Quantity{Name: "throughput", Unit: "bit/s", Better: result.Higher}
	for _, cell := range cells {
		m := metricOf(cell, q)
		if cell.Network != catalog.Baseline {
			m.Toll = testToll(cell, cells[catalog.Baseline], q)
		}
		cell.Metrics = []result.Metric{m}
		if change != nil {
			change(cell)
		}
	}
	res.Cells = []result.Cell{*cells[catalog.Baseline], *cells["bridge"]}
	return res
}

func testToll(cell, baseline *result.Cell, q result.Quantity) *result.Toll {
	of, base := BlocksOf(cell, q.Name), BlocksOf(baseline, q.Name)
	return inFile(Against(of, base, true, q, marginsOf(aaOf{}, nil, q, stats.DeclaredMargin)), Pairs(of, base))
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
	labtest.Equal(t, "judged", c.Judged, result.JudgedByToll)
	labtest.Equal(t, "paired", c.Paired, false)
	var differ []string
	for _, d := range c.Differ {
		differ = append(differ, d.Name)
	}
	labtest.Equal(t, "differences", strings.Join(differ, ", "), "kernel, since Linux 6.16, since Linux 6.17, since Linux 6.18")
	labtest.Contains(t, "what 6.18 changed", c.Differ[3].New, "4194304")
	older := Compare(recent, old, Gates{}).Differ
	labtest.Equal(t, "backwards", older[3].Old, c.Differ[3].New)
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
			labtest.Equal(t, "gate", u.Gate, "max-regression")
			labtest.Equal(t, "metric", u.Metric, "throughput")
			labtest.Equal(t, "cell", u.Cell, "bridge cross-host tcp_stream")
			labtest.MoreThan(t, "low end", u.Low, one.limit)
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
	labtest.Equal(t, "paired, with the same ID", paired.Paired, true)
	labtest.Equal(t, "paired, with another ID", unpaired.Paired, false)
	labtest.AtMost(t, "width of the paired interval", *a.High-*a.Low, (*b.High-*b.Low)/5)
	labtest.Near(t, "paired change", a.Value, 0.0375, 0.005)
}

// TestSamePairsOfMachinesArePaired compares two results of the same machines: what the machines
// differ by cancels out. Other machines, or the same ones otherwise, have nothing in common.
func TestSamePairsOfMachinesArePaired(t *testing.T) {
	pairs := func(first string) (all []result.MachinePair) {
		for n := range 10 {
			all = append(all, result.MachinePair{Machines: []string{fmt.Sprint(first, n), fmt.Sprint("b", n)}})
		}
		return all
	}
	old, recent := measuredRun(4, 4e10, 0.2, nil), measuredRun(4, 4e10, 0.23, nil)
	recent.ID = "another"
	old.Pairs, recent.Pairs = pairs("a"), pairs("a")
	paired := Compare(old, recent, Gates{})
	recent.Pairs = pairs("c")
	others := Compare(old, recent, Gates{})
	labtest.Equal(t, "pairs in common", paired.Pairs, 10)
	labtest.Equal(t, "paired", paired.Paired, true)
	labtest.Equal(t, "others are paired", others.Paired, false)
	a, b := theChange(t, paired, result.JudgedByValue), theChange(t, others, result.JudgedByValue)
	labtest.AtMost(t, "width of the paired interval", *a.High-*a.Low, (*b.High-*b.Low)/5)
	labtest.Near(t, "paired change", a.Value, 0.0375, 0.005)
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
	if len(c.Single) != 1 {
		t.Fatalf("cells of one result %+v, want one", c.Single)
	}
	labtest.Equal(t, "result that has the cell", c.Single[0].In, "old")
	labtest.Equal(t, "reason", c.Single[0].Reason, "failed: no route to host")
	labtest.Equal(t, "number of gates unmet", len(c.Unmet), 1)
}

// What failed in place of a cell is of the same network, path and workload, though its mode is not known.
func TestTheReasonIsThatOfTheSameCell(t *testing.T) {
	old, recent := measuredRun(1, 4e10, 0.2, nil), measuredRun(2, 4e10, 0.2, nil)
	failed := recent.Cells[1]
	failed.Status, failed.Reason, failed.Mode, failed.Params, failed.Metrics, failed.Samples = result.StatusFailed, "the right one", "", result.Params{}, nil, nil
	network, path, workload := failed, failed, failed
	network.Network, path.Path, workload.Workload = "vxlan", "same-host", "tcp_rr"
	recent.Cells = nil // nothing was measured by which the mode could be known
	for _, c := range []result.Cell{network, path, workload, failed} {
		if c.Network+c.Path+c.Workload != failed.Network+failed.Path+failed.Workload {
			c.Reason = "another"
		}
		recent.Cells = append(recent.Cells, c)
	}
	c := Compare(old, recent, Gates{})
	labtest.Equal(t, "cells of one result", len(c.Single), 2)
	labtest.Equal(t, "reason why the host has no other", c.Single[0].Reason, "")
	labtest.Equal(t, "reason why the bridge has none", c.Single[1].Reason, "failed: the right one")
}

// Where too few blocks of baselines are left, layouts are taken to differ as they do as a rule.
func TestChangesWithoutBaselinesHaveTheUsualLayouts(t *testing.T) {
	for toll, want := range map[float64]stats.Verdict{0.2: stats.Inconclusive, 0.21: stats.Inconclusive, 0.25: stats.Slower} {
		few := func(toll float64) *result.Result {
			res := measuredRun(4, 4e10, toll, nil)
			res.Cells[0].Samples = res.Cells[0].Samples[:2]
			return res
		}
		change := theChange(t, Compare(few(0.2), few(toll), Gates{}), result.JudgedByValue)
		labtest.Equal(t, fmt.Sprintf("verdict on a toll of 0.2, then %v", toll), change.Verdict, string(want))
		labtest.Equal(t, "margin", change.Margin, stats.DeclaredMargin)
	}
}

// Runs that took turns in the same cycles are compared cycle by cycle.
func TestSlotsOfOneExperimentArePaired(t *testing.T) {
	sliced := func(seed uint64, toll float64) *result.Result {
		random := rand.New(rand.NewPCG(5, 5)) // the same cycles
		res := measuredRun(seed, 4e10, toll, nil)
		res.ID = "one"
		for n := range res.Cells[1].Samples {
			values := make([]float64, 5)
			for cycle := range values {
				values[cycle] = (1 - toll) * math.Exp(random.NormFloat64())
			}
			res.Cells[1].Samples[n].Slots = &result.Slots{Values: map[string][]float64{"throughput": values}, Places: make([]int, len(values))}
		}
		return res
	}
	change := theChange(t, Compare(sliced(1, 0.2), sliced(2, 0.23), Gates{}), result.JudgedByValue)
	labtest.Near(t, "change", change.Value, 0.0375, 1e-9)
	labtest.AtMost(t, "width of its interval", *change.High-*change.Low, 0.04) // what layouts differ by; cycles by 1
}

// A block that carried nothing has no logarithm: the others are compared.
func TestABlockOfZeroIsLeftOut(t *testing.T) {
	stopped := measuredRun(2, 4e10, 0.2, func(c *result.Cell) { c.Samples[0].Metrics["throughput"] = 0 })
	change := theChange(t, Compare(measuredRun(1, 4e10, 0.2, nil), stopped, Gates{}), result.JudgedByValue)
	labtest.Equal(t, "it has an interval", change.Low != nil, true)
}

func TestTollIsHeldToItsLimit(t *testing.T) {
	res := measuredRun(1, 4e10, 0.2, nil)
	for limit, unmet := range map[float64]int{0.1: 1, 0.3: 0, 0.2: 0} {
		if c := Compare(res, res, Gates{MaxToll: &limit}); len(c.Unmet) != unmet {
			t.Errorf("a toll of 0.2 and a limit of %v: %+v, want %d", limit, c.Unmet, unmet)
		}
	}
}
