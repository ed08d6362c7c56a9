package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCriticalRankSums holds the values to the table of Mann and Whitney's U, two
// sided, 5 % (any textbook's).
func TestCriticalRankSums(t *testing.T) {
	for _, c := range []struct{ m, n, want int }{
		{3, 3, -1}, {4, 4, 0}, {5, 5, 2}, {6, 6, 5}, {8, 8, 13}, {10, 10, 23}, {8, 10, 17}, {10, 8, 17}, {20, 20, 127}, {5, 12, 11},
	} {
		if got := criticalRankSum(c.m, c.n); got != c.want {
			t.Errorf("%d and %d values: %d, want %d", c.m, c.n, got, c.want)
		}
	}
	// the approximation takes over where the two agree
	p := 0.0
	for u, q := range rankSumDistribution(50, 50) {
		if p += q; p > 0.025 {
			mean, sd := 1250.0, math.Sqrt(2500*101/12.0)
			if near := math.Floor(mean - normalQuantile(0.975)*sd - 0.5); math.Abs(near-float64(u-1)) > 1 {
				t.Errorf("50 and 50 values: exactly %d, nearly %v", u-1, near)
			}
			break
		}
	}
}

// TestShiftCovers simulates two runs of the same thing, one moved by so much.
func TestShiftCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for name, draw := range map[string]func() float64{
		"normal": random.NormFloat64, "skewed": random.ExpFloat64,
	} {
		const experiments, moved = 4000, 0.7
		covered := 0
		for range experiments {
			x, y := make([]float64, 10), make([]float64, 12)
			for i := range x {
				x[i] = draw()
			}
			for i := range y {
				y[i] = draw() + moved
			}
			if shift, ok := Shift(x, y); ok && shift.Low <= moved && moved <= shift.High {
				covered++
			}
		}
		if share := float64(covered) / experiments; share < 0.94 || share > 0.97 {
			t.Errorf("%s: the interval covers %.4f", name, share)
		}
	}
}

func TestShiftOfTooFewValues(t *testing.T) {
	if shift, ok := Shift([]float64{1, 2, 3}, []float64{2, 3, 4}); ok || shift.Value != 1 || !math.IsInf(shift.Low, -1) {
		t.Errorf("three and three: %+v, %v", shift, ok)
	}
	for _, x := range [][]float64{nil, {math.NaN()}, {math.Inf(1)}} {
		if _, ok := Shift(x, []float64{1, 2, 3, 4}); ok {
			t.Errorf("%v has a shift", x)
		}
	}
}
