package stats

import (
	"math"
	"testing"
)

func TestRatioOfSums(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	ones := []float64{1, 1, 1, 1, 1, 1}
	for _, test := range []struct {
		name       string
		cost, work []float64
		want       Interval
		ok         bool
	}{
		{"each block costs the same", []float64{2, 4, 6, 2, 4, 6}, []float64{1, 2, 3, 1, 2, 3}, Interval{2, 2, 2}, true},
		// By hand: the standard deviation of log(11/5) and log(9/5), three times
		// each, is 0.109911; times 5/sqrt(6) and t(0.975, 5) = 2.570582 it is
		// 0.576723.
		{"two kinds of block", []float64{1, 3, 1, 3, 1, 3}, ones, Interval{2, 1.123468, 3.560405}, true},
		{"one block below its idle baseline", []float64{-1, 10, 10, 10, 10, 9}, ones, Interval{8, 4.679464, 13.676780}, true},
		{"five blocks", ones[:5], ones[:5], Interval{1, -inf, inf}, false},
		{"one block did all the work", ones, []float64{0, 0, 0, 0, 0, 3}, Interval{2, -inf, inf}, false},
		{"one block had all the cost", []float64{0, 0, 0, 0, 0, 3}, ones, Interval{0.5, -inf, inf}, false},
		{"no cost", make([]float64, 6), ones, Interval{nan, nan, nan}, false},
		{"no work", ones, make([]float64, 6), Interval{nan, nan, nan}, false},
		{"no block", nil, nil, Interval{nan, nan, nan}, false},
		{"lists of two lengths", ones, ones[:5], Interval{nan, nan, nan}, false},
		{"a value missing", []float64{1, 1, nan, 1, 1, 1}, ones, Interval{nan, nan, nan}, false},
	} {
		got, ok := RatioOfSums(test.cost, test.work)
		if ok != test.ok || !(same(got, test.want) || close(got, test.want, 1e-6)) {
			t.Errorf("%s: got %v, %v; want %v, %v", test.name, got, ok, test.want, test.ok)
		}
	}
}

func TestMedian(t *testing.T) {
	for want, x := range map[float64][]float64{3: {3}, 2: {3, 1, 2}, 2.5: {4, 1, 3, 2}} {
		if got := Median(x); got != want {
			t.Errorf("the median of %v is %v, want %v", x, got, want)
		}
	}
	if got := Median(nil); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
}
