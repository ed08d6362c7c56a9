package report

import (
	"math"
	"path/filepath"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
	"tare/weigh"
)

// viewIn is the view of a result of testdata.
func viewIn(t *testing.T, name string) view {
	t.Helper()
	res, err := result.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return viewsOf([]*result.Result{res})[0]
}

// TestViewLadderIsTheTerminals compares the page's rungs with the steps that the
// terminal prints, each from its parent's level to its own.
func TestViewLadderIsTheTerminals(t *testing.T) {
	groups := groupsOf(quick())
	rungs := 0
	for _, l := range groups {
		shown := map[string]viewRung{}
		for _, v := range ladderView(l, groups) {
			shown[v.Label] = v
		}
		ladder := newLadder(wordsOf(English), []*weigh.Group{l}, groups)
		if len(shown) == 0 {
			if ladder.Root != nil && ladder.Root.TallerThanOne() {
				t.Errorf("%v: no ladder", l.Key)
			}
			continue
		}
		for _, b := range tree(ladder.Root, "", "") {
			v, has := shown[ladder.label(b.Rung)]
			s, ok := ladder.Step(b.Rung, 0)
			if !has || ok != (v.Step != nil) {
				t.Errorf("%s: shown %v, with a step %v", ladder.label(b.Rung), has, ok)
				continue
			}
			if !ok {
				continue
			}
			rungs++
			below := shown[v.Parent].Level
			want := below * (1 - s.Value)
			if ladder.Quantity(0).Unit == "s" {
				want = below + s.Value
			}
			labtest.Equal(t, v.Label+": step", v.Step.Value, s.Value)
			labtest.Equal(t, v.Label+": pairs", v.Step.N, s.Pairs)
			labtest.Equal(t, v.Label+": level below", v.Step.From, below)
			labtest.Near(t, v.Label+": level", v.Level, want, 1e-12*math.Abs(want))
		}
	}
	if rungs == 0 {
		t.Error("no rung was looked at")
	}
}

// TestSpans finds the networks that differ in one parameter of the lab alone, and
// shows them once.
func TestSpans(t *testing.T) {
	for _, of := range []struct {
		file  string
		spans func(viewGroup) []viewSpan
		want  int // groups that hold any
		dots  int // of each span there
	}{
		{"sweep", func(g viewGroup) []viewSpan { return g.NICs }, 2, 2},
		{"links", func(g viewGroup) []viewSpan { return g.Links }, 1, 3},
		{"quick", func(g viewGroup) []viewSpan { return append(g.NICs, g.Links...) }, 0, 0},
	} {
		found := 0
		for _, g := range viewIn(t, of.file).Groups {
			spans := of.spans(g)
			if len(spans) > 0 {
				found++
			}
			for _, s := range spans {
				if len(s.Dots) < of.dots || s.Label == catalog.Baseline {
					t.Errorf("%s: %s has %d dots", of.file, s.Label, len(s.Dots))
				}
			}
		}
		if found != of.want {
			t.Errorf("%s: %d groups hold spans, want %d", of.file, found, of.want)
		}
	}
}

// TestSpanOfOwnLinks weighs a network on its own links against one baseline: its
// span has the links.
func TestSpanOfOwnLinks(t *testing.T) {
	cell := func(name string, link float64) result.Cell {
		m := result.Metric{Name: "throughput", Unit: "bit/s", Better: result.Higher, N: 6, Value: link}
		if name != catalog.Baseline {
			m.Toll = &result.Toll{Value: 1 - link/1e10}
		}
		return result.Cell{
			Network: name, Path: catalog.CrossHost, Workload: "tcp_stream", Status: result.StatusOK,
			Params: result.Params{"nic": "frames", "link": link}, Metrics: []result.Metric{m},
		}
	}
	res := &result.Result{Cells: []result.Cell{cell("host", 1e10), cell("vxlan", 1e10), cell("vxlan", 1e9), cell("route", 1e10)}}
	spans := viewsOf([]*result.Result{res})[0].Groups[0].Links
	if len(spans) != 1 || len(spans[0].Dots) != 2 {
		t.Fatalf("spans %+v, want one of two dots", spans)
	}
	labtest.Equal(t, "label", spans[0].Label, "vxlan (host@10gbit)")
	labtest.Equal(t, "place of the first dot", spans[0].Dots[0].At, 1e9)
}

// TestWithinJoinsNeighbours keeps the page small where a run was long: rates are
// averaged, counts added.
func TestWithinJoinsNeighbours(t *testing.T) {
	c := result.Cell{Params: result.Params{"duration": 10.0}}
	for range 10 {
		s := result.Sample{Series: map[string][]float64{"throughput": {}, "retransmits": {}}}
		for range 100 {
			s.Series["throughput"] = append(s.Series["throughput"], 2e9)
			s.Series["retransmits"] = append(s.Series["retransmits"], 1)
		}
		c.Samples = append(c.Samples, s)
	}
	v := withinOf(&c)
	if v == nil || len(v.Values) != 334 || len(v.Retransmits) != 334 {
		t.Fatalf("%+v, want 334 values and retransmits", v)
	}
	labtest.Near(t, "step", v.Step, 0.3, 1e-12)
	if math.Abs(v.Values[0]/2e9-1) > 1e-12 || math.Abs(v.Retransmits[0]-3) > 1e-12 {
		t.Errorf("%v bit/s and %v retransmits, want 2e9 and 3", v.Values[0], v.Retransmits[0])
	}
	loaded := result.Sample{Series: map[string][]float64{"rate": {1000, 1000}, "rtt_p50": {1e-3, 2e-3}, "rtt_p90": {3e-3, 4e-3}, result.StepEnds: {0.1, 0.2}}}
	v = withinOf(&result.Cell{Samples: []result.Sample{loaded, loaded}})
	if v == nil || v.Metric != "rtt_p50" || len(v.Values) != 4 || len(v.P90) != 4 || v.P90[3] != 4e-3 {
		t.Errorf("round trips over time: %+v", v)
	}
	if withinOf(&result.Cell{}) != nil {
		t.Error("a cell without samples has intervals")
	}
	for _, end := range []float64{-1, 0, 5e-324, math.MaxFloat64} {
		s := result.Sample{Series: map[string][]float64{"rate": {1, 2}, result.StepEnds: {0, end}}}
		if v := withinOf(&result.Cell{Samples: []result.Sample{s, s, s}}); v != nil {
			t.Errorf("windows that end after %v s have intervals: %+v", end, v)
		}
	}
}
