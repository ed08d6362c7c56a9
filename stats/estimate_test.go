package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"tare/test/labtest"
)

// Intervals of Student's t about the centre cover what they claim to, and are as seldom far off, for few
// values and many, with heavy tails too.
func TestEstimateCovers(t *testing.T) {
	const experiments = 4_000
	for name, noise := range map[string]func(*rand.Rand) float64{"log-normal": noises()["log-normal"], "heavy tails (Student's t of 3)": noises()["heavy tails (Student's t of 3)"]} {
		for _, n := range []int{7, 10, 30} {
			random := rand.New(rand.NewPCG(1, 2))
			var missed, far int
			for range experiments {
				x := make([]float64, n)
				for i := range x {
					x[i] = noise(random)
				}
				e, _ := Centre(x)
				for rate, count := range map[float64]*int{0.05: &missed, 0.002: &far} {
					if in := e.Interval(rate); in.Low > 0 || in.High < 0 {
						*count++
					}
				}
			}
			labtest.Between(t, name+": missed", float64(missed)/experiments, 0.028, 0.062)
			labtest.AtMost(t, name+": far off", float64(far)/experiments, 0.004)
		}
	}
}

func TestEstimateOfTooFew(t *testing.T) {
	e, ok := Centre([]float64{0.1, 0.1, 0.1, 0.1, 0.1})
	labtest.Equal(t, "known", ok, false)
	labtest.Equal(t, "value", e.Value, 0.1)
	labtest.Equal(t, "low", e.Interval(0.05).Low, math.Inf(-1))
	labtest.Equal(t, "chance", e.Chance(0.02), 1)
	_, ok = CentreShift([]float64{1, 2, 3}, []float64{2, 3, 4})
	labtest.Equal(t, "a shift of three and three is known", ok, false)
}

// By hand: of 0 to 5 and 10 to 15 the shift is 10, and 5 of 36 differences lie beyond each end of its interval.
func TestShiftAsAnEstimate(t *testing.T) {
	e, ok := CentreShift([]float64{0, 1, 2, 3, 4, 5}, []float64{10, 11, 12, 13, 14, 15})
	labtest.Equal(t, "known", ok, true)
	labtest.Equal(t, "value", e.Value, 10)
	labtest.Equal(t, "freedom", e.Uncertain[0].Freedom, 10)
}

// By hand: variances of 3 and 1 with 6 and 2 degrees of freedom are 4 with 16/(9/6 + 1/2) = 8.
func TestVariancesAddUp(t *testing.T) {
	e := Estimate{0, []Variance{{3, 6}}}.And(Variance{1, 2})
	labtest.Equal(t, "variance", e.variance().Of, 4)
	labtest.Near(t, "freedom", e.variance().Freedom, 8, 1e-12)
	labtest.Near(t, "half of the interval", e.Interval(0.05).High, 2*2.306004, 1e-5)
	labtest.Equal(t, "what it was made of", len(Estimate{0, []Variance{{3, 6}}}.Uncertain), 1)
	labtest.Equal(t, "of two that are nothing", Estimate{5, []Variance{{0, 6}, {0, 2}}}.Interval(0.05), Interval{5, 5, 5})
}

// An interval that misses at a rate clears a toll exactly where the chance is below half of it.
func TestChanceIsThatOfTheInterval(t *testing.T) {
	for _, direction := range []Direction{HigherIsBetter, LowerIsBetter} {
		for _, value := range []float64{-0.6, -0.1, -0.03, 0, 0.03, 0.1, 0.6} {
			for _, least := range []float64{0, 0.02, 0.05} {
				e := Estimate{value, []Variance{{0.01 * 0.01, 7}}}
				for _, rate := range []float64{0.05, 0.001} {
					toll := e.Toll(direction, rate)
					beyond := toll.Low > least || toll.High < -least
					labtest.Equal(t, "beyond", e.Chance(least) < rate/2, beyond)
				}
			}
		}
	}
	labtest.Equal(t, "without noise", Estimate{0.1, []Variance{{0, 7}}}.Chance(0.02), 0)
	labtest.Equal(t, "a toll that nothing reaches", Estimate{-5, []Variance{{1, 200}}}.Chance(1), 1)
}
