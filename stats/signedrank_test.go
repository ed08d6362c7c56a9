package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"tare/test/labtest"
)

// Wilcoxon's table of critical values: two-sided, 5 %.
func TestCriticalRankAgreesWithThePublishedTable(t *testing.T) {
	published := map[int]int{
		6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 13: 17, 14: 21, 15: 25,
		16: 29, 17: 34, 18: 40, 19: 46, 20: 52, 25: 89, 30: 137, 40: 264, 50: 434,
	}
	for n, want := range published {
		if got, _ := criticalRank(n); got != want {
			t.Errorf("n = %d: rank %d, the table has %d", n, got, want)
		}
	}
	for n := range MinBlocks {
		if got, _ := criticalRank(n); got != -1 {
			t.Errorf("n = %d: rank %d, where no 95 %% interval exists", n, got)
		}
	}
	if _, p := criticalRank(10); p != 25.0/1024 {
		t.Errorf("n = 10: probability %v of 8 or less, want 25/1024", p)
	}
}

// A rank above the exact one would cover less than 95 %.
func TestApproximateRankIsTheExactOneOrItsNeighbour(t *testing.T) {
	for _, n := range []int{exactBlocks + 1, 80, 150} {
		exact, below := 0, 0.0
		for w, p := range signedRankDistribution(n) {
			if below += p; below > 0.025 {
				exact = w - 1
				break
			}
		}
		got, probability := criticalRank(n)
		if got < exact-1 || got > exact {
			t.Errorf("n = %d: rank %d, exactly %d", n, got, exact)
		}
		if math.Abs(probability-0.025) > 0.001 {
			t.Errorf("n = %d: probability %v outside one end, want about 0.025", n, probability)
		}
	}
}

// The depression scores of Hollander and Wolfe, table 3.1 and example 3.4.
func TestHodgesLehmannOfAPublishedExample(t *testing.T) {
	got, ok := HodgesLehmann([]float64{-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010})
	want := Interval{Value: -0.46, Low: -0.786, High: -0.010}
	if !ok || !close(got, want, 1e-12) {
		t.Errorf("got %v, %v; want %v", got, ok, want)
	}
}

// The interval is the set of centres that the signed-rank test keeps, found
// here by listing all sign assignments.
func TestIntervalIsWhatTheTestKeeps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for n := MinBlocks; n <= 10; n++ {
		x := make([]float64, n)
		for i := range x {
			x[i] = 3 + random.NormFloat64()
		}
		got, ok := HodgesLehmann(x)
		if !ok || !(got.Low < got.Value && got.Value < got.High) {
			t.Fatalf("n = %d: %v, %v", n, got, ok)
		}
		const step = 1e-9
		for centre, kept := range map[float64]bool{
			got.Low - step: false, got.Low + step: true, got.Value + step: true,
			got.High - step: true, got.High + step: false,
		} {
			if p := signFlipP(x, centre); (p > 0.05) != kept {
				t.Errorf("n = %d: centre %v in %v has p = %v", n, centre, got, p)
			}
		}
	}
}

// signFlipP is the two-sided p-value of the signed-rank test that x has the
// centre, by brute force.
func signFlipP(x []float64, centre float64) float64 {
	var ranks []int
	observed := 0
	for _, v := range x {
		rank := 0
		for _, other := range x {
			if math.Abs(other-centre) <= math.Abs(v-centre) {
				rank++
			}
		}
		ranks = append(ranks, rank)
		if v > centre {
			observed += rank
		}
	}
	least := min(observed, len(x)*(len(x)+1)/2-observed)
	asExtreme := 0
	for signs := range uint(1) << len(x) {
		sum := 0
		for rest := signs; rest != 0; rest &= rest - 1 {
			sum += ranks[bits.TrailingZeros(rest)]
		}
		if sum <= least {
			asExtreme++
		}
	}
	return min(1, 2*float64(asExtreme)/float64(uint(1)<<len(x)))
}

func TestHodgesLehmannWithoutAnInterval(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		x    []float64
		want Interval
	}{
		{nil, Interval{nan, nan, nan}},
		{[]float64{7}, Interval{7, -inf, inf}},
		{[]float64{1, 2, 3, 4, 10}, Interval{3, -inf, inf}},
		{[]float64{1, 2, 3, 4, 5, 6, nan}, Interval{nan, nan, nan}},
		{[]float64{1, 2, 3, 4, 5, 6, inf}, Interval{nan, nan, nan}},
	} {
		if got, ok := HodgesLehmann(test.x); ok || !same(got, test.want) {
			t.Errorf("%v: got %v, %v; want %v, false", test.x, got, ok, test.want)
		}
	}
	equal := []float64{5, 5, 5, 5, 5, 5}
	if got, ok := HodgesLehmann(equal); !ok || got != (Interval{5, 5, 5}) {
		t.Errorf("six equal values: got %v, %v", got, ok)
	}
}

func TestLocation(t *testing.T) {
	powers := []float64{1, 10, 100, 1000, 1e4, 1e5, 1e6}
	if got, ok := Location(powers, true); !ok || !close(got, Interval{1000, 10, 1e5}, 1e-9) {
		t.Errorf("positive: got %v, %v", got, ok)
	}
	plain, _ := HodgesLehmann(powers)
	if got, ok := Location(powers, false); !ok || got != plain {
		t.Errorf("not positive by nature: got %v, want %v", got, plain)
	}
	zeros := []float64{0, 0, 1, 2, 3, 4}
	plain, _ = HodgesLehmann(zeros)
	if got, ok := Location(zeros, true); !ok || got != plain {
		t.Errorf("with zeros: got %v, want %v", got, plain)
	}
	got, ok := Location([]float64{2, 8}, true)
	labtest.Equal(t, "two values have an interval", ok, false)
	if !close(Interval{got.Value, 0, 0}, Interval{4, 0, 0}, 1e-9) {
		t.Errorf("location of two values is %v, want 4", got.Value)
	}
	labtest.Equal(t, "low end of two values", got.Low, 0)
	labtest.Equal(t, "high end of two values", got.High, math.Inf(1))
}

// close reports whether two intervals agree to a relative error.
func close(a, b Interval, relative float64) bool {
	near := func(x, y float64) bool { return math.Abs(x-y) <= relative*math.Max(math.Abs(x), math.Abs(y)) }
	return near(a.Value, b.Value) && near(a.Low, b.Low) && near(a.High, b.High)
}

// same is equality in which NaN equals NaN.
func same(a, b Interval) bool {
	equal := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	return equal(a.Value, b.Value) && equal(a.Low, b.Low) && equal(a.High, b.High)
}
