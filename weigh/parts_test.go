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

func TestMeanOfABlock(t *testing.T) {
	for _, c := range []struct{ a, b, want float64 }{
		{4, 9, 6}, {0, 3, 1.5}, {3, 0, 1.5}, {-1, 3, 1}, {2, math.NaN(), 2}, {math.NaN(), 5, 5}, {0, 0, 0},
	} {
		labtest.Near(t, fmt.Sprintf("mean of %v and %v", c.a, c.b), Block{A: c.a, B: c.b}.Mean(), c.want, 1e-12)
	}
}

// Of an open loop nothing is predicted, and nothing where the round trip was not measured.
func TestLayer4PredictsNoOpenLoop(t *testing.T) {
	for name, change := range map[string]func(c *result.Cell){
		"an open loop": func(c *result.Cell) {
			if c.Workload == "http" {
				c.Params["rate"] = 1000.0
			}
		},
		"no round trips": func(c *result.Cell) {
			if c.Workload == "tcp_rr" {
				c.Workload = "udp_rr"
			}
		},
		"no bulk": func(c *result.Cell) {
			if c.Workload == "tcp_stream" {
				c.Workload = "udp_pps"
			}
		},
		"a bulk that carried nothing": func(c *result.Cell) {
			for n := range c.Samples {
				if c.Workload == "tcp_stream" && c.Network != catalog.Baseline && c.Samples[n].Metrics != nil {
					c.Samples[n].Metrics["throughput"] = 0
				}
			}
		},
		"a baseline that carried nothing": func(c *result.Cell) {
			for n := range c.Samples {
				if c.Workload == "tcp_stream" && c.Network == catalog.Baseline && c.Samples[n].Metrics != nil {
					c.Samples[n].Metrics["throughput"] = 0
				}
			}
		},
		"another path": func(c *result.Cell) {
			if c.Workload == "tcp_rr" {
				c.Path = catalog.HostToContainer
			}
		},
	} {
		res := ladderRun()
		for n := range res.Cells {
			res.Cells[n].Group = ""
			change(&res.Cells[n])
		}
		res.SetGroups()
		weighAll(res)
		for _, c := range res.Cells {
			for _, m := range c.Metrics {
				if m.Layer4 != nil {
					t.Errorf("%s: %s of %s has the prediction %+v", name, m.Name, c.Network, m.Layer4)
				}
			}
		}
	}
}

// What slots have of those around them is a warning from a percent on, what was lost from a twentieth on.
func TestSlotWarningsSayHowMuch(t *testing.T) {
	for _, c := range []struct {
		over result.CarryOver
		want []string
	}{
		{result.CarryOver{Effect: 0.02, Chance: 0.001, Slots: 100}, []string{"carry-over: tcp_rr on p: a slot differs by 2.0 %"}},
		{result.CarryOver{Effect: 0.02, Chance: 0.5, Slots: 100}, nil},
		{result.CarryOver{Effect: 0.001, Chance: 0.001, Slots: 100}, nil},
		{result.CarryOver{Chance: 1, Bias: -0.03, Slots: 100}, []string{"slot-bias: tcp_rr on p: a toll differs by 3.0 %"}},
		{result.CarryOver{Chance: 1, Bias: 0.005, Slots: 100}, nil},
		{result.CarryOver{Chance: 1, Lost: 10, Slots: 100}, []string{"lost-slots: tcp_rr on p: 10 %"}},
		{result.CarryOver{Chance: 1, Lost: 4, Slots: 100}, nil},
		{result.CarryOver{Effect: muchEffect, Chance: 0.001, Bias: -muchEffect, Lost: 5, Slots: 100}, nil},
		{result.CarryOver{Effect: 0.02, Chance: byChance, Slots: 100}, nil},
		{result.CarryOver{Effect: 0.05, Bias: 0.05, Lost: 50, Slots: 100}, []string{"carry-over: ", "slot-bias: ", "lost-slots: tcp_rr on p: 50 %"}},
	} {
		c.over.Workload, c.over.Path = "tcp_rr", "p"
		got := SlotWarnings(c.over)
		for n := range got {
			if len(got) != len(c.want) || !strings.HasPrefix(got[n], c.want[n]) {
				t.Errorf("%+v: %q, want %q", c.over, got, c.want)
			}
		}
		labtest.Equal(t, fmt.Sprintf("warnings of %+v", c.over), len(got), len(c.want))
	}
}

// A slot that brought nothing is lost.
func TestLostSlotsAreCounted(t *testing.T) {
	g := turns{toll: 0.2, own: 0.1}.group()
	for n := range 5 {
		g.Cells[1].Samples[n].Slots.Values["throughput"][3] = 0
	}
	c := CarryOvers([]*Group{g})[0]
	labtest.Equal(t, "lost slots", c.Lost, 5)
	labtest.Between(t, "effect of the others", c.Effect, 0, 0.01)
}

// What one of two kernels did not measure is not compared.
func TestKernelsCompareWhatBothMeasured(t *testing.T) {
	first, twin, other := measuredRun(1, 4e10, 0.2, nil), measuredRun(2, 4e10, 0.2, nil), measuredRun(3, 3e10, 0.2, nil)
	c := Kernels(first, twin, other, "6.12", "6.1")
	labtest.Equal(t, "cells", len(c.Cells), 2)
	change := c.Cells[0].Metrics[0].Change
	if change == nil {
		t.Fatal("what both measured is not compared")
	}
	labtest.Between(t, "a quarter less", change.Value, 0.2, 0.3)
	other.Cells[1].Status = result.StatusFailed
	labtest.Equal(t, "cells without the one that failed", len(Kernels(first, twin, other, "6.12", "6.1").Cells), 1)
	first.Cells[0].Status = result.StatusFailed
	labtest.Equal(t, "cells without both", len(Kernels(first, twin, other, "6.12", "6.1").Cells), 0)
}

// A look decides nothing about a cell that failed, or that has nothing to be weighed against.
func TestLooksDecide(t *testing.T) {
	res := ladderRun()
	weighAll(res)
	for _, g := range Groups(res) {
		for _, c := range g.Cells {
			if c.Network == catalog.Baseline || c.Workload == "lifecycle" {
				continue
			}
			labtest.Equal(t, c.Workload+" "+c.Network+" is decided", ScaleOf([]*Group{g}, stats.DeclaredMargin).Decided(g, c, 0.01), true)
			labtest.Equal(t, c.Workload+" "+c.Network+" is decided against a margin as large as it", ScaleOf([]*Group{g}, 0.05).Decided(g, c, 0.01), c.Network != "ptp" || c.Status != result.StatusOK)
		}
		if g.Workload == "tcp_rr" {
			labtest.Equal(t, "blocks", g.Measured(), measuredBlocks)
			g.Baseline = nil
			labtest.Equal(t, "without a baseline", ScaleOf([]*Group{g}, 0.05).Decided(g, g.Cells[1], 0.01), true)
		}
	}
}

// Slots after one of route have 0.105 less in log; the effect is the standard deviation of that, less
// what the runs and the cycles explain of it.
func TestCarryOverHasItsSize(t *testing.T) {
	c := CarryOvers([]*Group{turns{toll: 1, own: 0.001, after: 0.1}.group()})[0]
	labtest.Near(t, "effect", c.Effect, 0.0328, 0.0002)
	labtest.Near(t, "chance of none in 200 as large", c.Chance, 1.0/201, 1e-12)
}

func TestSlotsThatSettleLateAreTooShort(t *testing.T) {
	labtest.Equal(t, "settled", TooShort(turns{own: 0.1}.group().Cells), false)
	labtest.Equal(t, "5 % later", TooShort(turns{own: 0.1, settle: 0.05}.group().Cells), true)
	alone := turns{own: 0.1, settle: 0.05}.group().Cells
	for n := range alone[0].Samples {
		alone[0].Samples[n].Slots = nil
	}
	labtest.Equal(t, "5 % later, with nothing beside it", TooShort(alone), false)
	labtest.Equal(t, "5 % less later", TooShort(turns{own: 0.1, settle: -0.05}.group().Cells), true)
}

func TestNotesOfARound(t *testing.T) {
	for _, c := range []struct {
		round *result.Round
		want  string
	}{
		{nil, ""},
		{&result.Round{Every: 60, Took: 60}, ""},
		{&result.Round{Every: 60, Took: 61.5, Left: 2, Suspended: 3, ClockSet: -4},
			"left out before it: 2; it took 61.5 s, longer than the interval; the machine was suspended for 3.0 s; the clock was set by -4.0 s"},
	} {
		labtest.Equal(t, "notes", strings.Join(notesOf(&result.Result{Round: c.round}), "; "), c.want)
	}
}

// An interval counts if it is whole, and lies beyond what the baselines differ by, where they do.
func TestTrustedIntervals(t *testing.T) {
	for _, c := range []struct {
		w    Weighing
		want bool
	}{
		{Weighing{Whole: true}, true},
		{Weighing{Whole: false}, false},
		{Weighing{Whole: true, unsteady: true, Verdict: stats.Inconclusive}, false},
		{Weighing{Whole: true, unsteady: true, Verdict: stats.Slower}, true},
	} {
		labtest.Equal(t, fmt.Sprintf("%+v", c.w), c.w.Trusted(), c.want)
	}
}

// Baselines are unsteady that differ by more than the margin, and beyond what layouts do.
func TestUnsteadyBaselines(t *testing.T) {
	q := result.Quantity{Name: "rtt_p50", Better: result.Lower}
	noise := []stats.Variance{{Of: 0.004 * 0.004, Freedom: 9}}
	others := []stats.Estimate{{Value: 0.04, Uncertain: noise}, {Value: -0.05, Uncertain: noise}, {Value: 0.05, Uncertain: noise}, {Value: -0.06, Uncertain: noise}}
	for _, c := range []struct {
		by     float64
		others []stats.Estimate
		want   bool
	}{{0.06, nil, true}, {-0.06, nil, true}, {0.005, nil, false}, {0.06, others, false}, {0.4, others, true}} {
		m := marginsOf(aaOf{stats.Estimate{Value: c.by, Uncertain: noise}, true}, c.others, q, 0.02)
		name := fmt.Sprintf("baselines apart by %v beside %d others", c.by, len(c.others))
		labtest.Equal(t, name+" are unsteady", m.Unsteady, c.want)
		if c.want {
			labtest.MoreThan(t, name+": least that counts", m.Least, math.Abs(c.by)*0.99)
		} else {
			labtest.Equal(t, name+": least that counts", m.Least, 0.02)
		}
	}
}

// What was imported is held against the link that is named, under the headers of the network.
func TestBoundOfWhatWasImported(t *testing.T) {
	for name, want := range map[string]float64{"": 1448.0 / 1538, "vxlan": 1398.0 / 1538} {
		res := &result.Result{Cells: []result.Cell{{
			Network: catalog.Baseline, Path: catalog.CrossHost, Workload: "tcp_stream", Params: result.Params{},
			Metrics: []result.Metric{{Name: "rate", Value: 1}, {Name: "throughput", Value: 5e9}},
		}}}
		Bound(res, 1e10, 1500, name)
		c := res.Cells[0]
		if c.Metrics[0].Ceiling != nil || c.Metrics[1].Ceiling == nil {
			t.Fatalf("%q: ceilings %+v", name, c.Metrics)
		}
		labtest.Near(t, "ceiling of "+name, c.Metrics[1].Ceiling.Value, 1e10*want, 1)
		labtest.Near(t, "ratio of "+name, c.Metrics[1].Ceiling.Ratio, 0.5/want, 1e-9)
	}
}

// Nothing bounds what crosses no link, nor datagrams of no size.
func TestCeilingNeedsALinkAndASize(t *testing.T) {
	for _, c := range []struct {
		workload string
		params   result.Params
		want     bool
	}{
		{"tcp_stream", result.Params{"mtu": 1500.0}, false}, {"tcp_stream", result.Params{"mtu": 1500.0, "link": 1e10}, true},
		{"udp_stream", result.Params{"mtu": 1500.0, "link": 1e10}, false}, {"udp_stream", result.Params{"mtu": 1500.0, "link": 1e10, "size": 1400.0}, true},
	} {
		cell := &result.Cell{Network: catalog.Baseline, Path: catalog.CrossHost, Workload: c.workload, Params: c.params, Metrics: []result.Metric{{Name: "throughput", Value: 1e9}}}
		addCeilings(cell, cell)
		labtest.Equal(t, fmt.Sprintf("ceiling of %s with %v", c.workload, c.params), cell.Metrics[0].Ceiling != nil, c.want)
	}
}

// What only a network was measured by has a value, and nothing to be weighed against.
func TestMetricsThatTheBaselineLacks(t *testing.T) {
	res := measuredRun(4, 4e10, 0.2, nil)
	for n := range res.Cells[1].Samples {
		res.Cells[1].Samples[n].Metrics["loss"] = 0.1
	}
	weighed(res)
	m := Metric(&res.Cells[1], "loss")
	if m == nil || m.Baseline != nil || m.Toll != nil || math.Abs(m.Value-0.1) > 1e-12 {
		t.Errorf("loss of a network: %+v", m)
	}
}

// The same cell of another run is of the same group, network, parameters and link.
func TestSameCellOfAnotherRun(t *testing.T) {
	res := ladderRun()
	c := res.Cells[3]
	if same := Same(ladderRun(), &c); same == nil || same.Network != c.Network || same.Workload != c.Workload {
		t.Errorf("the same of %s under %s: %+v", c.Network, c.Workload, same)
	}
	first := res.Cells[0]
	if same := Same(ladderRun(), &first); same == nil || same.Network != first.Network {
		t.Errorf("the same of the first: %+v", same)
	}
	other := ladderRun()
	other.Cells[3].Status = result.StatusFailed
	if same := Same(other, &c); same != nil {
		t.Errorf("one that failed is the same: %+v", same)
	}
	c.Params = result.Params{"link": 1e9}
	if same := Same(ladderRun(), &c); same != nil {
		t.Errorf("one on another link is the same: %+v", same.Params)
	}
}

// A network that publishes ports is above one that does not, as that was measured without the port.
func TestLadderOfPublishedPorts(t *testing.T) {
	res := &result.Result{}
	for _, one := range []struct {
		path, name string
		slow       float64
	}{
		{catalog.HostToContainer, catalog.Baseline, 1}, {catalog.HostToContainer, "bridge", 1.1}, {catalog.HostToContainer, "nat", 1.2},
		{catalog.PublishedPort, catalog.Baseline, 1}, {catalog.PublishedPort, "nat", 1.5},
		{catalog.CrossHost, catalog.Baseline, 1}, {catalog.CrossHost, "bridge", 1.3},
	} {
		c := result.Cell{Network: one.name, Path: one.path, Workload: "tcp_rr", Status: result.StatusOK, Params: result.Params{"mtu": 1500.0}}
		for block := range measuredBlocks {
			s := sampleOf("tcp_rr", one.slow*(1+0.001*float64(block%3)))
			s.Block = block
			c.Samples = append(c.Samples, s)
		}
		res.Cells = append(res.Cells, c)
	}
	res.SetGroups()
	groups := Groups(res)
	for _, g := range groups {
		if g.Path != catalog.PublishedPort {
			continue
		}
		l := NewLadder([]*Group{g}, []string{"rtt_p50"}, groups)
		r := l.Rung(RungKey{Network: "nat"})
		if r == nil || r.Parent == nil || !r.Parent.Key.Twin {
			t.Fatalf("nat is above %+v, want what was measured without the port", r)
		}
		step, ok := l.Step(r, 0)
		labtest.Equal(t, "compared", ok, true)
		labtest.Near(t, "what the port adds", step.Value, (1.5-slowdownOf(r.Parent.Key.Network))*20e-6, 1e-7)
	}
}

// A rung upon the host alone makes no tall ladder, and adds nothing that is known where no block has both.
func TestLadderOfOneRung(t *testing.T) {
	res := measuredRun(4, 4e10, 0.2, nil)
	for n := range res.Cells[1].Samples {
		res.Cells[1].Samples[n].Block += 100
	}
	groups := Groups(res)
	l := NewLadder(groups, []string{"throughput"}, groups)
	labtest.Equal(t, "rungs", len(l.Root.Children), 1)
	labtest.Equal(t, "tall", l.Root.TallerThanOne(), false)
	_, ok := l.Step(l.Root.Children[0], 0)
	labtest.Equal(t, "compared", ok, false)
}

// slowdownOf is what networks of TestLadderOfPublishedPorts divide rates by without a port.
func slowdownOf(name string) float64 {
	return map[string]float64{catalog.Baseline: 1, "bridge": 1.1, "nat": 1.2}[name]
}
