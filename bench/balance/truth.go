package balance

import (
	"context"
	"fmt"
	"os"
	"strings"

	"tare/bench/harness"
	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// truth is whether what is weighed is right, not only narrow.
type truth struct {
	Known   []interval // tolls of a network whose link is a fifth slower than the others'
	Pairs   []pair
	AA      int
	Differs []string // baselines that seem to differ from themselves
}

// pair is one toll in slots and in long windows.
type pair struct {
	Of             string // network, nic and metric
	Slots, Windows interval
}

// The plans, which the page shows. That of pairs has a path that is much slower than the others.

func (truth) KnownPlan() string { return "examples/known-toll.yaml" }

func (truth) PairPlan() string {
	return "--networks bridge,route,vxlan --paths cross-host --workloads tcp_stream,tcp_rr"
}

func (truth) LongWindows() string { return "--duration 5s --warmup 500ms --blocks 6" }

func (truth) SelfPlan() string {
	return "--networks " + catalog.Baseline + " --paths cross-host --workloads tcp_stream,tcp_rr --duration 50ms"
}

// AgainstSelf is how often the baseline is weighed against itself.
func (truth) AgainstSelf() int { return 40 }

// find weighs all of them.
func find(ctx context.Context, tare harness.Tare) (t truth, err error) {
	weigh := func(what, design string, plan ...string) (*result.Result, error) {
		fmt.Fprintln(os.Stderr, "balance:", what)
		return weighed(ctx, tare, design, strings.Fields(strings.Join(plan, " ")))
	}
	res, err := weigh("a known toll", result.DesignSlots, t.KnownPlan())
	if err != nil {
		return t, err
	}
	t.Known = knownOf(res)
	slots, err := weigh("slots", result.DesignSlots, t.PairPlan())
	if err != nil {
		return t, err
	}
	windows, err := weigh("windows of 5 s", result.DesignWindows, t.PairPlan(), t.LongWindows())
	if err != nil {
		return t, err
	}
	t.Pairs = pairsOf(slots, windows)
	for run := range t.AgainstSelf() {
		res, err := weigh(fmt.Sprintf("the baseline against itself, %d of %d", run+1, t.AgainstSelf()), result.DesignSlots, t.SelfPlan())
		if err != nil {
			return t, err
		}
		t.AA += len(res.Noise.AA)
		for _, aa := range res.Noise.AA {
			if differs(aa) {
				t.Differs = append(t.Differs, fmt.Sprintf("%s of %s %+.1f to %+.1f %%", aa.Metric, aa.Workload, 100*aa.Low, 100*aa.High))
			}
		}
	}
	return t, nil
}

// knownOf are the tolls on throughput of the network with the slower link.
func knownOf(res *result.Result) (known []interval) {
	for _, cell := range res.Cells {
		if m := weigh.Metric(&cell, "throughput"); cell.Network == "route" && m != nil {
			known = append(known, interval(*m.Toll))
		}
	}
	return known
}

// pairsOf joins the tolls that both results have.
func pairsOf(slots, windows *result.Result) (pairs []pair) {
	tolls := func(res *result.Result, take func(name string, toll interval)) {
		for n := range res.Cells {
			cell := &res.Cells[n]
			if m := weigh.Headline(cell); m != nil && m.Toll != nil && cell.Network != catalog.Baseline {
				take(strings.Join([]string{cell.Network, cell.Params.Text("nic"), m.Name}, ", "), interval(*m.Toll))
			}
		}
	}
	long := map[string]interval{}
	tolls(windows, func(name string, toll interval) { long[name] = toll })
	tolls(slots, func(name string, toll interval) {
		if other, both := long[name]; both {
			pairs = append(pairs, pair{name, toll, other})
		}
	})
	return pairs
}

// Overlaps reports whether the two intervals have something in common.
func (p pair) Overlaps() bool {
	for _, toll := range []interval{p.Slots, p.Windows} {
		if toll.Low == nil || toll.High == nil {
			return true
		}
	}
	return *p.Slots.Low <= *p.Windows.High && *p.Windows.Low <= *p.Slots.High
}

// interval is a toll that is shown as a percentage, with its interval.
type interval result.Toll

func (t interval) String() string {
	if t.Low == nil || t.High == nil {
		return fmt.Sprintf("%+.1f %%", 100*t.Value)
	}
	return fmt.Sprintf("%+.1f %% [%.1f, %.1f]", 100*t.Value, 100**t.Low, 100**t.High)
}
