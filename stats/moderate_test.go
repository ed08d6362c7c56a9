package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"tare/test/labtest"
)

func TestDigammaAndTrigamma(t *testing.T) {
	const euler = 0.57721566490153286
	labtest.Near(t, "digamma(1)", digamma(1), -euler, 1e-9)
	labtest.Near(t, "digamma(1/2)", digamma(0.5), -euler-2*math.Ln2, 1e-9)
	labtest.Near(t, "trigamma(1)", trigamma(1), math.Pi*math.Pi/6, 1e-9)
	labtest.Near(t, "trigamma(1/2)", trigamma(0.5), math.Pi*math.Pi/2, 1e-9)
	labtest.Near(t, "its inverse", trigammaInverse(trigamma(3.7)), 3.7, 1e-6)
}

// drawn are variances of so many comparisons of eight blocks; their true ones differ by a factor of
// that standard deviation in log.
func drawn(random *rand.Rand, comparisons int, unlike float64) (own []Variance, truth []float64) {
	for range comparisons {
		true2 := math.Exp(2 * unlike * random.NormFloat64())
		x := make([]float64, 8)
		for i := range x {
			x[i] = math.Sqrt(true2) * random.NormFloat64()
		}
		own, truth = append(own, Variance{sd(x) * sd(x), 7}), append(truth, true2)
	}
	return own, truth
}

// Comparisons of equal noise know it from each other; those of unlike noise keep to their own.
func TestSpreadsAreSharedWhereTheyAreAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var alike, unlike float64
	for range 200 {
		own, _ := drawn(random, 20, 0)
		alike += SpreadsOf(own).Moderate(own[0]).Freedom / 200
		own, _ = drawn(random, 20, 1)
		unlike += SpreadsOf(own).Moderate(own[0]).Freedom / 200
	}
	labtest.MoreThan(t, "degrees of freedom where they are alike", alike, 50)
	labtest.Between(t, "degrees of freedom where they differ by a factor of e", unlike, 7, 10)
}

// What is known of all is nearer to the truth than what each knows alone.
func TestModeratedSpreadsAreNearer(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, unlike := range []float64{0, 0.3, 0.6} {
		var alone, moderated float64
		for range 300 {
			own, truth := drawn(random, 7, unlike)
			common := SpreadsOf(own)
			for n := range own {
				alone += math.Abs(math.Log(own[n].Of / truth[n]))
				moderated += math.Abs(math.Log(common.Moderate(own[n]).Of / truth[n]))
			}
		}
		labtest.LessThan(t, "mean error in log", moderated, alone)
	}
}

func TestSpreadsOfFewSayNothing(t *testing.T) {
	own := []Variance{{4, 7}, {1, 7}}
	labtest.Equal(t, "of two", SpreadsOf(own).Moderate(own[0]), own[0])
	labtest.Equal(t, "without noise", SpreadsOf([]Variance{{0, 7}, {0, 7}, {0, 7}}).Moderate(Variance{0, 7}), Variance{0, 7})
	equal := SpreadsOf([]Variance{{1, 7}, {1, 7}, {1, 7}}).Moderate(Variance{1, 7})
	labtest.Equal(t, "freedom of three that are the same", equal.Freedom, 28)
}
