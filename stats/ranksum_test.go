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
		if got, _ := criticalRankSum(c.m, c.n); got != c.want {
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

func TestShiftOfTheLeastThatDo(t *testing.T) {
	shift, ok := Shift([]float64{1, 2, 3, 4}, []float64{2, 3, 4, 5})
	if want := (Interval{1, -2, 4}); !ok || shift != want {
		t.Errorf("four and four: %+v, %t, want all differences: %+v", shift, ok, want)
	}
}

// Above 2,500 pairs the normal distribution gives the rank of the exact one, or its neighbour.
func TestShiftOfManyValues(t *testing.T) {
	for _, c := range []struct{ m, n int }{{51, 51}, {60, 45}, {45, 60}} {
		exact, cumulated := -1, 0.0
		for u, p := range rankSumDistribution(c.m, c.n) {
			if cumulated += p; cumulated > 0.025 {
				exact = u - 1
				break
			}
		}
		if got, _ := criticalRankSum(c.m, c.n); got < exact-1 || got > exact {
			t.Errorf("%d and %d: rank %d, the exact one is %d", c.m, c.n, got, exact)
		}
	}
	x, y := make([]float64, 51), make([]float64, 51)
	for i := range x {
		x[i], y[i] = float64(i), float64(i+3)
	}
	if shift, ok := Shift(x, y); !ok || shift.Value != 3 || shift.Low+shift.High != 6 || shift.Low < -4 || shift.Low > -2 {
		t.Errorf("51 values each: %+v, %t, want 3 from about -3 to 9", shift, ok)
	}
}
