package stats

import (
	"math"
	"testing"
)

func TestLogRatio(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		name  string
		block Block
		want  float64
		ok    bool
	}{
		{"one baseline", Block{8, []float64{4}}, math.Ln2, true},
		{"two baselines, mean in log", Block{8, []float64{2, 8}}, math.Ln2, true},
		{"no baseline", Block{8, nil}, 0, false},
		{"cell missing", Block{nan, []float64{4}}, 0, false},
		{"cell zero", Block{0, []float64{4}}, 0, false},
		{"cell infinite", Block{inf, []float64{4}}, 0, false},
		{"one of two baselines missing", Block{8, []float64{4, nan}}, 0, false},
		{"baseline negative", Block{8, []float64{-4}}, 0, false},
	} {
		got, ok := test.block.LogRatio()
		if ok != test.ok || math.Abs(got-test.want) > 1e-15 {
			t.Errorf("%s: got %v, %v; want %v, %v", test.name, got, ok, test.want, test.ok)
		}
	}
	got := LogRatios([]Block{{2, []float64{1}}, {nan, []float64{1}}, {1, []float64{2}}})
	if len(got) != 2 || got[0] != math.Ln2 || got[1] != -math.Ln2 {
		t.Errorf("log ratios %v: the block without a value is to be left out", got)
	}
}

func TestToll(t *testing.T) {
	half := math.Log(0.5)
	ratios := []float64{half, half, half, half, half, half}
	for _, test := range []struct {
		name      string
		ratios    []float64
		direction Direction
		want      Interval
		ok        bool
	}{
		{"half the throughput", ratios, HigherIsBetter, Interval{0.5, 0.5, 0.5}, true},
		{"half the latency", ratios, LowerIsBetter, Interval{-0.5, -0.5, -0.5}, true},
		{"too few, throughput", ratios[:5], HigherIsBetter, Interval{0.5, math.Inf(-1), 1}, false},
		{"too few, latency", ratios[:5], LowerIsBetter, Interval{-0.5, -1, math.Inf(1)}, false},
		{"none", nil, HigherIsBetter, unknown(), false},
	} {
		got, ok := Toll(test.ratios, test.direction)
		round := func(x float64) float64 { return math.Round(x*1e12) / 1e12 }
		rounded := Interval{round(got.Value), round(got.Low), round(got.High)}
		if ok != test.ok || !same(rounded, test.want) {
			t.Errorf("%s: got %v, %v; want %v, %v", test.name, got, ok, test.want, test.ok)
		}
	}
}

func TestJudge(t *testing.T) {
	quiet := Margins{Declared: 0.02, Least: 0.02}
	noisy := Margins{Declared: 0.02, Least: 0.05}
	tooFew, _ := Toll([]float64{0.1, 0.1}, LowerIsBetter)
	for _, test := range []struct {
		name    string
		toll    Interval
		margins Margins
		want    Verdict
	}{
		{"above the margin", Interval{0.05, 0.03, 0.07}, quiet, Slower},
		{"on the margin", Interval{0.05, 0.02, 0.07}, quiet, Inconclusive},
		{"below the margin", Interval{-0.05, -0.07, -0.03}, quiet, Faster},
		{"above zero but within the margin", Interval{0.01, 0.005, 0.015}, quiet, Equal},
		{"just within the margin", Interval{0, -0.02, 0.02}, quiet, Equal},
		{"across the margin", Interval{0.02, 0.01, 0.03}, quiet, Inconclusive},
		{"wider than the margin", Interval{0, -0.05, 0.05}, quiet, Inconclusive},
		{"baselines that differ hide a toll", Interval{0.05, 0.03, 0.07}, noisy, Inconclusive},
		{"a toll beyond what baselines differ by", Interval{0.08, 0.06, 0.1}, noisy, Slower},
		{"baselines that differ make nothing equal", Interval{0, -0.04, 0.04}, noisy, Inconclusive},
		{"equal though baselines differ", Interval{0, -0.01, 0.01}, noisy, Equal},
		{"too few blocks", tooFew, quiet, Inconclusive},
		{"no blocks", unknown(), quiet, Inconclusive},
	} {
		if got := Judge(test.toll, test.margins); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
