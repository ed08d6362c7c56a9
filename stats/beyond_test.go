package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tare/test/labtest"
)

func TestSignedRankBeyondIsTheTablesChance(t *testing.T) {
	all := []float64{1.1, 1.2, 1.3, 1.4, 1.5, 1.6}
	labtest.Near(t, "all six above", SignedRankBeyond(all, 1), 1.0/64, 1e-12)
	labtest.Near(t, "all six below", SignedRankBeyond(all, 2), 1, 1e-12)
	labtest.Near(t, "the nearest of six below", SignedRankBeyond([]float64{0.99, 1.2, 1.3, 1.4, 1.5, 1.6}, 1), 2.0/64, 1e-12)
	labtest.Near(t, "an outlier matters by its rank alone", SignedRankBeyond([]float64{1.1, 1.2, 1.3, 1.4, 1.5, 1e9}, 1), 1.0/64, 1e-12)
	labtest.Equal(t, "nothing", SignedRankBeyond(nil, 1), 1)
	labtest.Equal(t, "all at the bound", SignedRankBeyond([]float64{1, 1, 1}, 1), 1)
	labtest.Equal(t, "not a number", SignedRankBeyond([]float64{2, math.NaN()}, 1), 1)
}

func TestStudentBeyondIsTheTablesChance(t *testing.T) {
	x := []float64{-1, -1, -1, 1, 1, 1} // a mean of 0, an error of 1/sqrt(5)
	labtest.Near(t, "t of 2.015 and five degrees of freedom", StudentBeyond(x, -2.015/math.Sqrt(5)), 0.05, 1e-4)
	labtest.Near(t, "the other side", StudentBeyond(x, 2.015/math.Sqrt(5)), 0.95, 1e-4)
	labtest.Equal(t, "no difference at all", StudentBeyond([]float64{2, 2, 2, 2, 2, 2}, 2), 1)
	labtest.Equal(t, "too few", StudentBeyond(x[:5], -10), 1)
	labtest.Equal(t, "infinite", StudentBeyond([]float64{1, 2, 3, 4, 5, math.Inf(1)}, 0), 1)
}

// The hours of sleep that a drug gained (Student, 1908; Cushny and Peebles, 1905).
func sleepGained() []float64 { return []float64{1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4} }

func TestStudentOfThePublishedExample(t *testing.T) {
	labtest.Near(t, "the chance of no gain", StudentBeyond(sleepGained(), 0), 0.00283289/2, 1e-8)
	labtest.Near(t, "the chance of a gain of 3.16", StudentBeyond(sleepGained(), 2*1.58), 1-0.00283289/2, 1e-8)
}

// Above 60 values the chance is that of a normal distribution, which is nearly the exact one.
func TestSignedRankBeyondOfManyValues(t *testing.T) {
	for _, n := range []int{exactBlocks, exactBlocks + 1} {
		for _, every := range []int{2, 3, 4, 6} { // one in so many is below the bound
			x, below := make([]float64, n), 0
			for i := range x {
				if x[i] = 10 + float64(i+1); i%every == 0 {
					x[i], below = 10-float64(i+1), below+i+1
				}
			}
			exact, tolerance := 0.0, 1e-15
			for _, p := range signedRankDistribution(n)[:below+1] {
				exact += p
			}
			if n > exactBlocks {
				tolerance = 4e-4
			}
			labtest.Near(t, fmt.Sprintf("%d values, one in %d below", n, every), SignedRankBeyond(x, 10), exact, tolerance)
		}
	}
}

// What may be spent at some looks, as in the tables of Lan and DeMets, 1983.
func TestSpendIsThePublishedBound(t *testing.T) {
	for share, want := range map[float64]float64{0.25: 0.00001, 0.5: 0.00153, 0.75: 0.00965, 1: 0.025} {
		labtest.Near(t, fmt.Sprintf("at %v", share), Spend(0.025, share), want, 1e-5)
	}
}

// Whatever the number of values, chances are as rare as they say.
func TestChancesBeyondAreAsRareAsTheySay(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{8, 16, 60, 80} {
		var ranks, means int
		const experiments = 4000
		for range experiments {
			x := make([]float64, n)
			for i := range x {
				x[i] = 3 + random.NormFloat64()
			}
			if SignedRankBeyond(x, 3) <= 0.05 {
				ranks++
			}
			if StudentBeyond(x, 3) <= 0.05 {
				means++
			}
		}
		labtest.Between(t, "signed ranks at 0.05", float64(ranks)/experiments, 0.03, 0.06)
		labtest.Between(t, "Student's t at 0.05", float64(means)/experiments, 0.04, 0.06)
	}
}
