package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// againstSelf is how often the baseline is weighed against itself.
const againstSelf = 40

// truth is whether what is weighed is right, not only narrow.
type truth struct {
	known   []result.Metric // of a network whose link is a fifth slower than the others'
	pairs   []pair
	aa      int
	differs []string // baselines that seem to differ from themselves
}

// pair is one toll in slots and in long windows.
type pair struct {
	of             string // network, nic and metric
	slots, windows result.Toll
}

// The plans. That of pairs has a path that is much slower than the others.
const knownPlan = "examples/known-toll.yaml"

func pairPlan() []string {
	return []string{"--networks", "bridge,route,vxlan", "--paths", "cross-host", "--workloads", "tcp_stream,tcp_rr"}
}

func longWindows() []string {
	return []string{"--duration", "5s", "--warmup", "500ms", "--blocks", "6"}
}

func selfPlan() []string {
	return []string{"--networks", catalog.Baseline, "--paths", "cross-host", "--workloads", "tcp_stream,tcp_rr", "--duration", "50ms"}
}

// find weighs all of them.
func find(ctx context.Context, tare string) (t truth, err error) {
	progress := func(what string) { fmt.Fprintln(os.Stderr, "balance:", what) }
	progress("a known toll")
	res, err := weighed(ctx, tare, result.DesignSlots, []string{knownPlan})
	if err != nil {
		return t, err
	}
	for _, cell := range res.Cells {
		if m := weigh.Metric(&cell, "throughput"); cell.Network == "route" && m != nil {
			t.known = append(t.known, *m)
		}
	}
	progress("slots against windows of 5 s")
	slots, err := weighed(ctx, tare, result.DesignSlots, pairPlan())
	if err != nil {
		return t, err
	}
	windows, err := weighed(ctx, tare, result.DesignWindows, append(pairPlan(), longWindows()...))
	if err != nil {
		return t, err
	}
	t.pairs = pairsOf(slots, windows)
	for run := range againstSelf {
		progress(fmt.Sprintf("the baseline against itself, %d of %d", run+1, againstSelf))
		res, err := weighed(ctx, tare, result.DesignSlots, selfPlan())
		if err != nil {
			return t, err
		}
		for _, aa := range res.Noise.AA {
			t.aa++
			if aa.Verdict == string(stats.Slower) || aa.Verdict == string(stats.Faster) {
				t.differs = append(t.differs, fmt.Sprintf("%s of %s %+.1f to %+.1f %%", aa.Metric, aa.Workload, 100*aa.Low, 100*aa.High))
			}
		}
	}
	return t, nil
}

// pairsOf joins the tolls that both results have.
func pairsOf(slots, windows *result.Result) []pair {
	tolls := func(res *result.Result, take func(name string, toll result.Toll)) {
		for n := range res.Cells {
			cell := &res.Cells[n]
			if m := weigh.Headline(cell); m != nil && m.Toll != nil && cell.Network != catalog.Baseline {
				take(strings.Join([]string{cell.Network, cell.Params.Text("nic"), m.Name}, ", "), *m.Toll)
			}
		}
	}
	long := map[string]result.Toll{}
	tolls(windows, func(name string, toll result.Toll) { long[name] = toll })
	var pairs []pair
	tolls(slots, func(name string, toll result.Toll) {
		if other, both := long[name]; both {
			pairs = append(pairs, pair{name, toll, other})
		}
	})
	return pairs
}

// overlaps reports whether the two intervals have something in common.
func (p pair) overlaps() bool {
	for _, toll := range []result.Toll{p.slots, p.windows} {
		if toll.Low == nil || toll.High == nil {
			return true
		}
	}
	return *p.slots.Low <= *p.windows.High && *p.windows.Low <= *p.slots.High
}

func (t truth) render(b *strings.Builder) {
	fmt.Fprintf(b, "\n## Is it right?\n\n`tare run %s` gives one network a link that is a fifth slower: its toll is 20 %%.", knownPlan)
	for _, m := range t.known {
		fmt.Fprintf(b, " It was found to be %s.", interval(*m.Toll))
	}
	fmt.Fprintf(b, "\n\n`tare run %s` in slots, and with `--design windows %s`:\n\n| | slots | windows of 5 s | intervals overlap |\n|---|---|---|---|\n",
		strings.Join(pairPlan(), " "), strings.Join(longWindows(), " "))
	for _, p := range t.pairs {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", p.of, interval(p.slots), interval(p.windows), map[bool]string{true: "yes", false: "no"}[p.overlaps()])
	}
	b.WriteString("\nThroughput between hosts depends on how long a connection has been open ([young connections](validity.md#young-connections)).\n")
	fmt.Fprintf(b, "\nThe baseline against itself, %d times (`tare run %s`): %d of %d comparisons found a difference", againstSelf, strings.Join(selfPlan(), " "), len(t.differs), t.aa)
	if len(t.differs) > 0 {
		fmt.Fprintf(b, " (%s)", strings.Join(t.differs, "; "))
	}
	b.WriteString(".\n")
}

// interval is a toll as a percentage, with its interval.
func interval(t result.Toll) string {
	if t.Low == nil || t.High == nil {
		return fmt.Sprintf("%+.1f %%", 100*t.Value)
	}
	return fmt.Sprintf("%+.1f %% [%.1f, %.1f]", 100*t.Value, 100**t.Low, 100**t.High)
}
