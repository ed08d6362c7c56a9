package weigh

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/test/labtest"
)

// apartBy makes the second of a result's two baselines faster by a ratio.
func apartBy(res *result.Result, ratio float64) *result.Result {
	for n := range res.Cells[0].Samples {
		if s := res.Cells[0].Samples[n]; s.Layout == LayoutB {
			s.Metrics["throughput"] *= 1 + ratio
		}
	}
	return res
}

// TestOneVerdictWhereBaselinesDiffer has a change within what the two baselines
// of a run differ by: no comparison counts it, as no toll does; nor does a ranking.
func TestOneVerdictWhereBaselinesDiffer(t *testing.T) {
	for _, one := range []struct {
		apart, toll float64
		want        stats.Verdict
	}{
		{0, 0.25, stats.Slower}, {0.15, 0.25, stats.Inconclusive}, {0.15, 0.5, stats.Slower},
	} {
		old, recent := apartBy(measuredRun(4, 4e10, 0.2, nil), one.apart), measuredRun(4, 4e10, one.toll, nil)
		if change := theChange(t, Compare(old, recent, Gates{}), result.JudgedByValue); change.Verdict != string(one.want) {
			t.Errorf("a toll of 0.2, then %v, baselines apart by %v: %s, want %s: %+v", one.toll, one.apart, change.Verdict, one.want, change)
		}
		ranked := rankedRun(map[string]float64{"route": 0.2, "vxlan": one.toll})
		last := Rank(&result.Result{Plan: ranked.Plan, Cells: apartBy(ranked, one.apart).Cells})[0].Ranked[1]
		if last.Behind == nil || last.Behind.Verdict != string(one.want) || (last.Place == 2) != (one.want == stats.Slower) {
			t.Errorf("tolls of 0.2 and %v, baselines apart by %v: %+v at place %d, want %s", one.toll, one.apart, last.Behind, last.Place, one.want)
		}
	}
}

// Tolls say that the two baselines differ.
func TestTollsWarnOfBaselinesThatDiffer(t *testing.T) {
	for by, want := range map[float64]bool{0: false, 0.15: true} {
		res := apartBy(measuredRun(4, 4e10, 0.2, nil), by)
		weighed(res)
		warnings := fmt.Sprint(res.Cells[1].Metrics[0].Warnings)
		labtest.Equal(t, fmt.Sprintf("a warning of baselines apart by %v", by), strings.Contains(warnings, "aa-differs"), want)
	}
}

// TestEveryGroupMustAgree judges a difference between two groups by both.
func TestEveryGroupMustAgree(t *testing.T) {
	quiet := Margins{Margins: stats.Margins{Declared: 0.02, Least: 0.02}}
	strict := Margins{Margins: stats.Margins{Declared: 0.1, Least: 0.1}}
	differ := Margins{Margins: stats.Margins{Declared: 0.02, Least: 0.1}, Unsteady: true}
	noisy := Margins{Margins: quiet.Margins, Layout: stats.Variance{Of: 0.04 * 0.04, Freedom: 20}}
	q, e := result.Quantity{Name: "rtt_p50", Better: result.Lower}, stats.Estimate{Value: 0.06, Uncertain: []stats.Variance{{Of: 0.005 * 0.005, Freedom: 20}}}
	for _, one := range []struct {
		margins []Margins
		want    stats.Verdict
		margin  float64
	}{
		{[]Margins{quiet}, stats.Slower, 0.02},
		{[]Margins{quiet, quiet}, stats.Slower, 0.02},
		{[]Margins{quiet, strict}, stats.Inconclusive, 0.1},
		{[]Margins{quiet, noisy}, stats.Inconclusive, 0.02},
		{[]Margins{noisy, quiet}, stats.Inconclusive, 0.02},
		{[]Margins{differ, quiet}, stats.Inconclusive, 0.1},
		{nil, stats.Inconclusive, 0},
	} {
		w := judged(e, true, q, one.margins...)
		if w.Verdict != one.want || math.Abs(w.Margin-one.margin) > 1e-12 {
			t.Errorf("margins %+v: %s by %v, want %s by %v", one.margins, w.Verdict, w.Margin, one.want, one.margin)
		}
	}
	if w := judged(e, false, q, quiet); w.Verdict != stats.Inconclusive || w.Trusted() {
		t.Errorf("without an interval: %+v", w)
	}
}

// TestCellsTakeTheirOwnCounterparts has networks measured under several parameters
// of theirs, and one on its own link.
func TestCellsTakeTheirOwnCounterparts(t *testing.T) {
	cell := func(name string, own result.Params) result.Cell {
		params := result.Params{"nic": "full", "mtu": 1500}
		for key, value := range own {
			params[key] = value
		}
		return result.Cell{Network: name, Path: catalog.CrossHost, Workload: "tcp_rr", Status: result.StatusOK, Params: params}
	}
	res := &result.Result{Cells: []result.Cell{
		cell("host", nil), cell("route", nil), cell("route", result.Params{"hosts": 10}),
		cell("vxlan", result.Params{"hosts": 10.0}), cell("vxlan", result.Params{"hosts": 10.0, "rules": 7}), cell("vxlan", nil),
		cell("nat", result.Params{"hosts": 3}), cell("route", result.Params{"link": 1e9, "nic": "frames"}),
	}}
	groups := Groups(res)
	if len(groups) != 1 {
		t.Fatalf("%d groups, want one: the networks' own parameters and links are no others", len(groups))
	}
	g := groups[0]
	for from, want := range map[int]int{3: 2, 4: 2, 5: 1, 6: 1} {
		if got := g.Counterpart(&res.Cells[from], "route"); got != &res.Cells[want] {
			t.Errorf("%s %v: its route is %+v, want %v", res.Cells[from].Network, res.Cells[from].Params, got, res.Cells[want].Params)
		}
	}
	if got := g.Counterpart(&res.Cells[3], catalog.Baseline); got != &res.Cells[0] || g.Baseline != got {
		t.Errorf("the baseline is %+v", got)
	}
	if link := g.OwnLink(&res.Cells[7]); link != 1e9 || g.OwnLink(&res.Cells[1]) != 0 {
		t.Errorf("own links: %v and %v", link, g.OwnLink(&res.Cells[1]))
	}
}
