package experiment

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/experiment/schedule"
	"tare/result"
	"tare/test/labtest"
)

func near(got, want, within float64) bool { return math.Abs(got-want) <= within }

func TestTollIsRecovered(t *testing.T) {
	for _, test := range []struct {
		workload, metric string
		factor           float64 // of the network's value
		toll             float64
		verdict          string
	}{
		{"tcp_stream", "throughput", 0.8, 0.2, "slower"},
		{"tcp_stream", "throughput", 1.25, -0.25, "faster"},
		{"tcp_rr", "rtt_p50", 1.2, 0.2, "slower"},
		{"tcp_rr", "rtt_p50", 0.8, -0.2, "faster"},
		{"tcp_crr", "rate", 0.8, 0.2, "slower"},
		{"tcp_stream", "throughput", 1, 0, "equal"},
	} {
		r := synthetic(t, vxlanPlan(test.workload))
		feed(r, 20, noisy(3, test.metric, 1e4, 0.008, test.factor))
		r.weigh()
		m, toll := tolled(t, r, "vxlan", test.metric)
		of := fmt.Sprintf("%s x %v: ", test.metric, test.factor)
		if toll.Low == nil || toll.Delta.Low == nil {
			t.Fatalf("%sno interval: toll %+v", of, toll)
		}
		labtest.Near(t, of+"toll", toll.Value, test.toll, 0.01)
		labtest.Between(t, of+"toll", toll.Value, *toll.Low, *toll.High)
		labtest.Equal(t, of+"verdict", toll.Verdict, test.verdict)
		labtest.Equal(t, of+"number of blocks", m.N, 20)
		if m.Baseline == nil || m.Baseline.Network != "host" || !near(m.Value/m.Baseline.Value, test.factor, 0.02) {
			t.Errorf("%svalue %v, baseline %+v", of, m.Value, m.Baseline)
		}
		if test.factor != 1 {
			labtest.Equal(t, of+"delta above 0", toll.Delta.Value > 0, test.factor > 1)
		}
		labtest.AtMost(t, of+"low end of the delta", *toll.Delta.Low, *toll.Delta.High)
	}
}

// TestDeltaIsInTheMetricsUnit checks exact numbers: no noise, and baselines
// whose geometric mean is 10.
func TestDeltaIsInTheMetricsUnit(t *testing.T) {
	r := synthetic(t, vxlanPlan("tcp_rr"))
	feed(r, 6, exactly(map[string]map[string]float64{
		"host a": {"rtt_p50": 5}, "host b": {"rtt_p50": 20}, "vxlan": {"rtt_p50": 13},
	}))
	r.weigh()
	m, toll := tolled(t, r, "vxlan", "rtt_p50")
	if !near(toll.Delta.Value, 3, 1e-9) || !near(*toll.Delta.Low, 3, 1e-9) || !near(*toll.Delta.High, 3, 1e-9) {
		t.Errorf("delta %+v, want 3", toll.Delta)
	}
	labtest.Near(t, "toll", toll.Value, 0.3, 1e-9)
	labtest.Near(t, "median RTT", m.Value, 13, 1e-9)
	labtest.Near(t, "median RTT of the baseline", m.Baseline.Value, 10, 1e-9)
	labtest.Equal(t, "unit", m.Unit, "s")
	labtest.Equal(t, "better", m.Better, result.Lower)
}

func TestBaselineIsWeighedAgainstItself(t *testing.T) {
	plan := vxlanPlan("tcp_rr")
	plan.Networks = append(plan.Networks, result.NetworkPlan{Name: "host"})
	r := synthetic(t, plan)
	feed(r, 20, noisy(5, "rtt_p50", 1e-4, 0.1, 1.5))
	r.weigh()
	_, own := tolled(t, r, "host", "rtt_p50")
	_, toll := tolled(t, r, "vxlan", "rtt_p50")
	if len(r.res.Noise.AA) != 1 {
		t.Fatalf("A/A: %+v", r.res.Noise.AA)
	}
	aa := r.res.Noise.AA[0]
	labtest.Equal(t, "path of the A/A", aa.Path, catalog.CrossHost)
	labtest.Equal(t, "workload of the A/A", aa.Workload, "tcp_rr")
	labtest.Equal(t, "metric of the A/A", aa.Metric, "rtt_p50")
	labtest.Equal(t, "nic of the A/A", aa.Params["nic"], "full")
	labtest.Equal(t, "verdict of the A/A", aa.Verdict, own.Verdict)
	labtest.Equal(t, "low end of the A/A", aa.Low, *own.Low)
	labtest.Equal(t, "high end of the A/A", aa.High, *own.High)
	labtest.AtMost(t, "low end of the A/A", aa.Low, 0)
	labtest.AtLeast(t, "high end of the A/A", aa.High, 0)
	labtest.MoreThan(t, "half of the A/A", (aa.High-aa.Low)/2, plan.Margin)
	labtest.Equal(t, "margin, which noise does not widen", toll.Margin, plan.Margin)
	if toll.Verdict != "slower" {
		t.Errorf("verdict %s", toll.Verdict)
	}
}

func TestDeclaredMarginHoldsWhereNoiseIsSmall(t *testing.T) {
	r := synthetic(t, vxlanPlan("tcp_rr"))
	feed(r, 10, noisy(6, "rtt_p50", 1, 0.002, 1.003))
	r.weigh()
	if _, toll := tolled(t, r, "vxlan", "rtt_p50"); toll.Margin != 0.02 || toll.Verdict != "equal" {
		t.Errorf("a toll of 0.3 %%: %+v", toll)
	}
}

// TestBaselinesThatDiffer: a toll smaller than the difference of the two layouts is
// inconclusive.
func TestBaselinesThatDiffer(t *testing.T) {
	for factor, want := range map[float64]string{1.09: "inconclusive", 0.95: "inconclusive", 1.5: "slower", 0.5: "faster"} {
		r := synthetic(t, vxlanPlan("tcp_rr"))
		like := noisy(7, "rtt_p50", 1, 0.005, factor)
		feed(r, 10, func(block int, g group, p place) (result.Sample, bool) {
			s, ok := like(block, g, p)
			if p.layout == layoutB {
				s.Metrics["rtt_p50"] *= 1.1
			}
			return s, ok
		})
		r.weigh()
		m, toll := tolled(t, r, "vxlan", "rtt_p50")
		if toll.Verdict != want {
			t.Errorf("x %v: %s, want %s: %+v", factor, toll.Verdict, want, toll)
		}
		if !slices.ContainsFunc(m.Warnings, func(w string) bool { return strings.HasPrefix(w, "aa-differs: ") }) {
			t.Errorf("x %v: warnings %q", factor, m.Warnings)
		}
	}
}

func TestFewBlocksDecideNothing(t *testing.T) {
	r := synthetic(t, vxlanPlan("tcp_rr"))
	feed(r, 5, noisy(8, "rtt_p50", 1, 0.001, 2))
	r.weigh()
	m, toll := tolled(t, r, "vxlan", "rtt_p50")
	labtest.Equal(t, "number of blocks", m.N, 5)
	labtest.Equal(t, "low end of five blocks", m.Low, nil)
	labtest.Equal(t, "low end of the toll", toll.Low, nil)
	labtest.Equal(t, "high end of the toll", toll.High, nil)
	labtest.Equal(t, "low end of the delta", toll.Delta.Low, nil)
	labtest.Equal(t, "verdict", toll.Verdict, "inconclusive")
	if !near(toll.Value, 1, 0.01) || len(r.res.Noise.AA) != 0 {
		t.Errorf("toll %v, A/A %+v", toll.Value, r.res.Noise.AA)
	}
	feed(r, 6, func(block int, g group, p place) (result.Sample, bool) { // the sixth
		s, _ := noisy(8, "rtt_p50", 1, 0.001, 2)(block, g, p)
		return s, block == 5
	})
	r.weigh()
	if m, toll := tolled(t, r, "vxlan", "rtt_p50"); m.N != 6 || toll.Low == nil || toll.Verdict != "slower" {
		t.Errorf("of six blocks: %+v, toll %+v", m, toll)
	}
}

func TestZeroBaselineHasNoToll(t *testing.T) {
	r := synthetic(t, vxlanPlan("tcp_stream"))
	feed(r, 10, exactly(map[string]map[string]float64{
		"host a": {"retransmits": 0, "throughput": 9}, "host b": {"retransmits": 0, "throughput": 9}, "vxlan": {"retransmits": 3, "throughput": 8},
	}))
	r.weigh()
	m := weighed(t, r, "vxlan", "retransmits")
	if m.Baseline == nil {
		t.Fatalf("retransmits have no baseline: %+v", m)
	}
	labtest.Equal(t, "toll of retransmits", m.Toll, nil)
	labtest.Near(t, "retransmits", m.Value, 3, 1e-9)
	labtest.Equal(t, "retransmits of the baseline", m.Baseline.Value, 0)
	if _, toll := tolled(t, r, "vxlan", "throughput"); toll.Verdict != "slower" {
		t.Errorf("throughput: %+v", toll)
	}
}

// TestOneLayoutMissing: blocks without one of the baselines are weighed with the
// other.
func TestOneLayoutMissing(t *testing.T) {
	for _, missing := range []int{3, 10} {
		r := synthetic(t, vxlanPlan("tcp_rr"))
		like := noisy(9, "rtt_p50", 1, 0.005, 1.3)
		feed(r, 10, func(block int, g group, p place) (result.Sample, bool) {
			s, _ := like(block, g, p)
			return s, p.layout != layoutB || block >= missing
		})
		r.weigh()
		m, toll := tolled(t, r, "vxlan", "rtt_p50")
		aa := 1
		if missing == 10 { // no A/A at all: layouts are taken to differ as they do as a rule
			aa = 0
		}
		of := fmt.Sprintf("%d blocks without one baseline: ", missing)
		labtest.Equal(t, of+"number of blocks", m.N, 10)
		labtest.Near(t, of+"toll", toll.Value, 0.3, 0.02)
		labtest.Equal(t, of+"verdict", toll.Verdict, "slower")
		labtest.Equal(t, of+"number of A/A", len(r.res.Noise.AA), aa)
	}
}

// TestEmptyRunIsAResult weighs nothing, and a run that failed half-way.
func TestEmptyRunIsAResult(t *testing.T) {
	for _, only := range []string{"nobody", "vxlan", "host a"} {
		r := synthetic(t, vxlanPlan("tcp_stream", "tcp_rr"))
		feed(r, 10, exactly(map[string]map[string]float64{only: {"rtt_p50": 1}}))
		r.weigh()
		var text bytes.Buffer
		if err := r.res.Write(&text); err != nil {
			t.Fatal(err)
		}
		res, err := result.Read(&text)
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Cells) != 4 || res.Finished != "" {
			t.Errorf("only %s: %d cells, finished %q", only, len(res.Cells), res.Finished)
		}
		for _, c := range res.Cells {
			for _, m := range c.Metrics {
				if m.Toll != nil {
					t.Errorf("only %s: toll %+v", only, m.Toll)
				}
			}
		}
	}
}

func TestWarningsReachEveryNumber(t *testing.T) {
	plan := vxlanPlan("tcp_rr")
	r := synthetic(t, plan)
	r.gates = []string{"steal: much"}
	r.built.warn("vxlan", "rps: refused")
	like := noisy(10, "rtt_p50", 1, 0.01, 1)
	feed(r, 8, func(block int, g group, p place) (result.Sample, bool) {
		s, _ := like(block, g, p)
		if p.layout == "" {
			s.Warnings = []string{"late-sender: so often"}
		}
		return s, true
	})
	r.weigh()
	if m := weighed(t, r, "vxlan", "rtt_p50"); !slices.Equal(m.Warnings, []string{"steal: much", "rps: refused", "late-sender: so often"}) {
		t.Errorf("warnings %q", m.Warnings)
	}
	if m := weighed(t, r, "host", "rtt_p50"); !slices.Equal(m.Warnings, []string{"steal: much"}) {
		t.Errorf("warnings of the baseline %q", m.Warnings)
	}
}

func TestPreciseEnough(t *testing.T) {
	for _, test := range []struct {
		precision, sigma float64
		blocks           int
		failed, want     bool
	}{
		{0.05, 0.005, 10, false, true},
		{0.05, 0.005, 5, false, false}, // no interval yet
		{0.05, 0.3, 10, false, false},
		{0.05, 0.3, 10, true, true}, // what failed gets no better
		{0, 0.005, 10, false, false},
	} {
		plan := vxlanPlan("tcp_rr")
		plan.Precision = test.precision
		r := synthetic(t, plan)
		feed(r, test.blocks, noisy(11, "rtt_p50", 1, test.sigma, 1.1))
		for key, cell := range r.cells {
			if test.failed && key.network != catalog.Baseline {
				cell.Status = result.StatusFailed
			}
		}
		r.weigh()
		p := schedule.Plan{Precision: test.precision}
		if got := p.Precise(test.blocks, r.halves()); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}
