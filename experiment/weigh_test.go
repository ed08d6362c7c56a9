package experiment

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"tare/network"
	"tare/result"
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
		switch {
		case !near(toll.Value, test.toll, 0.01):
			t.Errorf("near(toll.Value, test.toll, 0.01) is false; %s x %v: toll %+v, want %v", test.metric, test.factor, toll, test.toll)
		case toll.Low == nil:
			t.Errorf("toll.Low is nil; %s x %v: toll %+v, want %v", test.metric, test.factor, toll, test.toll)
		case *toll.Low > toll.Value:
			t.Errorf("*toll.Low is %v, want at most %v; %s x %v: toll %+v, want %v", *toll.Low, toll.Value, test.metric, test.factor, toll, test.toll)
		case *toll.High < toll.Value:
			t.Errorf("*toll.High is %v, want at least %v; %s x %v: toll %+v, want %v", *toll.High, toll.Value, test.metric, test.factor, toll, test.toll)
		}
		if toll.Verdict != test.verdict || m.N != 20 {
			t.Errorf("%s x %v: %s of %d blocks, want %s", test.metric, test.factor, toll.Verdict, m.N, test.verdict)
		}
		if m.Baseline == nil || m.Baseline.Network != "host" || !near(m.Value/m.Baseline.Value, test.factor, 0.02) {
			t.Errorf("%s x %v: value %v, baseline %+v", test.metric, test.factor, m.Value, m.Baseline)
		}
		if d := toll.Delta; test.factor != 1 && (d.Value > 0) != (test.factor > 1) || d.Low == nil || *d.Low > *d.High {
			t.Errorf("%s x %v: delta %+v", test.metric, test.factor, toll.Delta)
		}
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
	switch {
	case !near(toll.Value, 0.3, 1e-9):
		t.Errorf("near(toll.Value, 0.3, 1e-9) is false; metric %+v, toll %+v", m, toll)
	case !near(m.Value, 13, 1e-9):
		t.Errorf("near(m.Value, 13, 1e-9) is false; metric %+v, toll %+v", m, toll)
	case !near(m.Baseline.Value, 10, 1e-9):
		t.Errorf("near(m.Baseline.Value, 10, 1e-9) is false; metric %+v, toll %+v", m, toll)
	case m.Unit != "s":
		t.Errorf("m.Unit is %v, want \"s\"; metric %+v, toll %+v", m.Unit, m, toll)
	case m.Better != result.Lower:
		t.Errorf("m.Better is %v, want %v; metric %+v, toll %+v", m.Better, result.Lower, m, toll)
	}
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
	switch {
	case aa.Path != network.CrossHost:
		t.Errorf("aa.Path is %v, want %v; A/A entry %+v", aa.Path, network.CrossHost, aa)
	case aa.Workload != "tcp_rr":
		t.Errorf("aa.Workload is %v, want \"tcp_rr\"; A/A entry %+v", aa.Workload, aa)
	case aa.Metric != "rtt_p50":
		t.Errorf("aa.Metric is %v, want \"rtt_p50\"; A/A entry %+v", aa.Metric, aa)
	case aa.Params["nic"] != "full":
		t.Errorf("aa.Params[\"nic\"] is %v, want \"full\"; A/A entry %+v", aa.Params["nic"], aa)
	case aa.Verdict != own.Verdict:
		t.Errorf("aa.Verdict is %v, want %v; A/A entry %+v", aa.Verdict, own.Verdict, aa)
	}
	switch {
	case aa.Low != *own.Low:
		t.Errorf("aa.Low is %v, want %v; A/A from %v to %v, the baseline's own toll %+v", aa.Low, *own.Low, aa.Low, aa.High, own)
	case aa.High != *own.High:
		t.Errorf("aa.High is %v, want %v; A/A from %v to %v, the baseline's own toll %+v", aa.High, *own.High, aa.Low, aa.High, own)
	case aa.Low > 0:
		t.Errorf("aa.Low is %v, want at most 0; A/A from %v to %v, the baseline's own toll %+v", aa.Low, aa.Low, aa.High, own)
	case aa.High < 0:
		t.Errorf("aa.High is %v, want at least 0; A/A from %v to %v, the baseline's own toll %+v", aa.High, aa.Low, aa.High, own)
	}
	half := (aa.High - aa.Low) / 2
	if half < plan.Margin || !near(toll.Margin, half, 1e-12) {
		t.Errorf("the margin used is %v, half of A/A is %v", toll.Margin, half)
	}
	if toll.Verdict != "slower" {
		t.Errorf("verdict %s", toll.Verdict)
	}
}

func TestDeclaredMarginHoldsWhereNoiseIsSmall(t *testing.T) {
	r := synthetic(t, vxlanPlan("tcp_rr"))
	feed(r, 10, noisy(6, "rtt_p50", 1, 0.002, 1.01))
	r.weigh()
	if _, toll := tolled(t, r, "vxlan", "rtt_p50"); toll.Margin != 0.02 || toll.Verdict != "equal" {
		t.Errorf("a toll of 1 %%: %+v", toll)
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
	switch {
	case m.N != 5:
		t.Errorf("m.N is %v, want 5; of five blocks: %+v, toll %+v", m.N, m, toll)
	case m.Low != nil:
		t.Errorf("m.Low is %v, want nil; of five blocks: %+v, toll %+v", m.Low, m, toll)
	case toll.Low != nil:
		t.Errorf("toll.Low is %v, want nil; of five blocks: %+v, toll %+v", toll.Low, m, toll)
	case toll.High != nil:
		t.Errorf("toll.High is %v, want nil; of five blocks: %+v, toll %+v", toll.High, m, toll)
	case toll.Delta.Low != nil:
		t.Errorf("toll.Delta.Low is %v, want nil; of five blocks: %+v, toll %+v", toll.Delta.Low, m, toll)
	case toll.Verdict != "inconclusive":
		t.Errorf("toll.Verdict is %v, want \"inconclusive\"; of five blocks: %+v, toll %+v", toll.Verdict, m, toll)
	}
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
	switch m := weighed(t, r, "vxlan", "retransmits"); {
	case m.Toll != nil:
		t.Errorf("m.Toll is %v, want nil; retransmits: %+v", m.Toll, m)
	case !near(m.Value, 3, 1e-9):
		t.Errorf("near(m.Value, 3, 1e-9) is false; retransmits: %+v", m)
	case m.Baseline == nil:
		t.Errorf("m.Baseline is nil; retransmits: %+v", m)
	case m.Baseline.Value != 0:
		t.Errorf("m.Baseline.Value is %v, want 0; retransmits: %+v", m.Baseline.Value, m)
	}
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
		want, aa := "slower", 1
		if missing == 10 { // no A/A at all: nothing can be decided
			want, aa = "inconclusive", 0
		}
		switch {
		case m.N != 10:
			t.Errorf("m.N is %v, want 10; %d blocks without one baseline: %+v, toll %+v, A/A %+v", m.N, missing, m, toll, r.res.Noise.AA)
		case !near(toll.Value, 0.3, 0.02):
			t.Errorf("near(toll.Value, 0.3, 0.02) is false; %d blocks without one baseline: %+v, toll %+v, A/A %+v", missing, m, toll, r.res.Noise.AA)
		case toll.Verdict != want:
			t.Errorf("toll.Verdict is %v, want %v; %d blocks without one baseline: %+v, toll %+v, A/A %+v", toll.Verdict, want, missing, m, toll, r.res.Noise.AA)
		case len(r.res.Noise.AA) != aa:
			t.Errorf("len(r.res.Noise.AA) is %v, want %v; %d blocks without one baseline: %+v, toll %+v, A/A %+v", len(r.res.Noise.AA), aa, missing, m, toll, r.res.Noise.AA)
		}
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
	r.warned["vxlan"] = []string{"rps: refused"}
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
			if test.failed && key.network != network.Baseline {
				cell.Status = result.StatusFailed
			}
		}
		r.weigh()
		if got := r.preciseEnough(test.blocks); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}
