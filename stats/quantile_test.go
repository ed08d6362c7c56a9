package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestQuantileCovers draws skewed samples whose quantiles are known: the
// interval must hold them in 95 % of all.
func TestQuantileCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		n int
		q float64
	}{{6, 0.5}, {20, 0.5}, {36, 0.9}, {120, 0.9}, {368, 0.99}, {1000, 0.99}} {
		const trials = 1500
		held := 0
		for range trials {
			x := make([]float64, c.n)
			for i := range x {
				x[i] = rng.ExpFloat64()
			}
			at, ok := Quantile(x, c.q)
			if !ok {
				t.Fatalf("%d values have no interval for %v", c.n, c.q)
			}
			if truth := -math.Log1p(-c.q); at.Low <= truth && truth <= at.High {
				held++
			}
			if at.Low > at.Value || at.Value > at.High {
				t.Fatalf("%d values at %v: %+v is out of order", c.n, c.q, at)
			}
		}
		if coverage := float64(held) / trials; coverage < 0.935 {
			t.Errorf("%d values at %v: covered %.3f", c.n, c.q, coverage)
		}
	}
}

// TestQuantileNeedsValues holds the least that a percentile takes to what the
// documents state.
func TestQuantileNeedsValues(t *testing.T) {
	for q, least := range map[float64]int{0.5: 6, 0.9: 36, 0.975: 146, 0.99: 368} {
		x := make([]float64, least)
		for i := range x {
			x[i] = float64(i)
		}
		if _, ok := Quantile(x, q); !ok {
			t.Errorf("%d values must do for %v", least, q)
		}
		if at, ok := Quantile(x[1:], q); ok {
			t.Errorf("%d values have no 95 %% interval for %v, yet: %+v", least-1, q, at)
		}
	}
	if at, ok := Quantile([]float64{3, 1, 2, 6, 5, 4, 7}, 0.5); !ok || at.Value != 4 {
		t.Errorf("the median of 1 to 7: %+v %v", at, ok)
	}
	if _, ok := Quantile(nil, 0.5); ok {
		t.Error("nothing has a median")
	}
}

// The ranks of the median's interval, as tables have them.
func TestQuantileLiesBetweenTheTablesRanks(t *testing.T) {
	for n, want := range map[int]Interval{6: {3, 1, 6}, 9: {5, 2, 8}, 10: {5, 2, 9}, 20: {10, 6, 15}, 25: {13, 8, 18}} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(n - i)
		}
		if at, ok := Quantile(x, 0.5); !ok || at != want {
			t.Errorf("the median of 1 to %d: %+v, %t, want %+v", n, at, ok, want)
		}
		x[0] = math.NaN()
		if at, ok := Quantile(x, 0.5); ok {
			t.Errorf("with NaN among %d: %+v", n, at)
		}
	}
	x := make([]float64, 1000)
	for _, q := range []float64{-0.1, 0, 1, 1.1} {
		if at, ok := Quantile(x, q); ok {
			t.Errorf("a quantile of %v: %+v", q, at)
		}
	}
	for i := range x {
		x[i] = float64(i + 1)
	}
	if at, _ := Quantile(x, 0.9); at.Value != 900 {
		t.Errorf("900 of 1000 values do not exceed the quantile of 0.9, which is %v", at.Value)
	}
}
