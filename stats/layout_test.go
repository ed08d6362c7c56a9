package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"tare/test/labtest"
)

// layoutOf is the standard deviation by which one of two equal networks differs, from so many A/A
// comparisons with noise each.
func layoutOf(random *rand.Rand, comparisons int, truth, noise float64) float64 {
	var again []Estimate
	for range comparisons {
		again = append(again, Estimate{math.Sqrt2*truth*random.NormFloat64() + noise*random.NormFloat64(), []Variance{{noise * noise, 7}}})
	}
	return math.Sqrt(Layout(again).Of / 2)
}

func TestLayoutIsFoundBesideTheNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	mean := func(comparisons int, truth, noise float64) float64 {
		sum := 0.0
		for range 200 {
			sum += layoutOf(random, comparisons, truth, noise) / 200
		}
		return sum
	}
	labtest.Between(t, "1 % in little noise", mean(8, 0.01, 0.002), 0.008, 0.013)
	labtest.Between(t, "5 % in little noise", mean(8, 0.05, 0.002), 0.04, 0.06)
	labtest.Between(t, "1 % in as much noise", mean(40, 0.01, 0.01), 0.008, 0.013)
	labtest.AtMost(t, "none in little noise", mean(8, 0, 0.002), 0.003)
	labtest.AtMost(t, "none in much noise", mean(8, 0, 0.05), 0.01)
}

// Without any comparison it is what is usual, known as well as from two.
func TestLayoutWithoutComparisons(t *testing.T) {
	v := Layout(nil)
	labtest.Between(t, "standard deviation of each", math.Sqrt(v.Of/2), 0.002, 0.006)
	labtest.Equal(t, "freedom", v.Freedom, 2)
	unknown, _ := Centre(nil)
	labtest.Equal(t, "one that has no interval says nothing", Layout([]Estimate{unknown}).Of, v.Of)
}
