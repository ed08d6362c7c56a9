package stats

import (
	"math"
	"testing"
)

// Published percent points of Student's t (NIST/SEMATECH e-Handbook 1.3.6.7.2),
// and of two that have a closed form.
func TestStudentQuantile(t *testing.T) {
	for _, test := range []struct {
		probability float64
		freedom     int
		want, error float64
	}{
		{0.975, 1, 12.706, 5e-4}, {0.975, 2, 4.303, 5e-4}, {0.975, 3, 3.182, 5e-4},
		{0.975, 4, 2.776, 5e-4}, {0.975, 5, 2.571, 5e-4}, {0.975, 6, 2.447, 5e-4},
		{0.975, 9, 2.262, 5e-4}, {0.975, 10, 2.228, 5e-4}, {0.975, 19, 2.093, 5e-4},
		{0.975, 30, 2.042, 5e-4}, {0.975, 100, 1.984, 5e-4},
		{0.95, 5, 2.015, 5e-4}, {0.90, 10, 1.372, 5e-4}, {0.99, 7, 2.998, 5e-4},
		{0.995, 9, 3.250, 5e-4}, {0.999, 20, 3.552, 5e-4}, {0.80, 10, 0.879, 5e-4},
		{0.5, 3, 0, 1e-12},
		{0.9999, 1, math.Tan(math.Pi * 0.4999), 1e-5},
		{0.9999, 2, 0.9998 / math.Sqrt(2*0.9999*0.0001), 1e-7},
		{0.975, 1_000_000, 1.959966, 1e-6},
	} {
		if got := studentQuantile(test.probability, test.freedom); math.Abs(got-test.want) > test.error {
			t.Errorf("t(%v, %d) = %v, want %v", test.probability, test.freedom, got, test.want)
		}
	}
}

func TestStudentQuantileInvertsTheDistribution(t *testing.T) {
	for freedom := 1; freedom <= 200; freedom++ {
		for _, want := range []float64{0.5, 0.6, 0.8, 0.95, 0.975, 0.999} {
			got := studentDistribution(studentQuantile(want, freedom), freedom)
			if math.Abs(got-want) > 1e-12 {
				t.Errorf("%d degrees of freedom: %v came back as %v", freedom, want, got)
			}
		}
	}
}
