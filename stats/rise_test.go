package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tare/test/labtest"
)

func TestRiseFindsWhatGrows(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	x := make([]float64, 20)
	for i := range x {
		x[i] = 1000 + 25*float64(i) + 30*random.NormFloat64()
	}
	if slope, chance := Rise(x); math.Abs(slope-25) > 4 || chance > 1e-4 {
		t.Errorf("it rises by %.1f with the chance %g, want 25 and less than 1e-4", slope, chance)
	}
	for name, series := range map[string][]float64{"seven": {1, 2, 3, 4, 5, 6, 7}, "constant": make([]float64, 20), "NaN": {1, 2, 3, 4, 5, 6, 7, 8, math.NaN()}} {
		if _, chance := Rise(series); chance != 1 {
			t.Errorf("%s: the chance is %g, want 1", name, chance)
		}
	}
}

// Mann's statistic, with Kendall's correction for ties, by hand.
func TestRiseOfAFewValues(t *testing.T) {
	for _, c := range []struct {
		x                    []float64
		slope, sum, variance float64
	}{
		{[]float64{1, 3.5, 6, 8.5, 11, 13.5, 16, 18.5}, 2.5, 28, 8 * 7 * 21 / 18.0},
		{[]float64{8, 7, 6, 5, 4, 3, 2, 1}, -1, 28, 8 * 7 * 21 / 18.0},
		{[]float64{1, 2, 2, 3, 4, 4, 4, 5}, 0.5, 24, (8*7*21 - 2*1*9 - 3*2*11) / 18.0},
		{[]float64{2, 1, 4, 3, 6, 5, 8, 7}, 1, 20, 8 * 7 * 21 / 18.0},
	} {
		slope, chance := Rise(c.x)
		labtest.Near(t, fmt.Sprintf("slope of %v", c.x), slope, c.slope, 1e-12)
		labtest.Near(t, fmt.Sprintf("chance of %v", c.x), chance, math.Erfc((c.sum-1)/math.Sqrt(2*c.variance)), 1e-12)
	}
}

// A series without a trend seems to have one no more often than its chance says.
func TestChancesHold(t *testing.T) {
	const series = 10_000
	random := rand.New(rand.NewPCG(10, 10))
	rises, differ := 0, 0
	for range series {
		x := make([]float64, 16)
		for i := range x {
			x[i] = random.ExpFloat64()
		}
		if _, chance := Rise(x); chance < 0.05 {
			rises++
		}
		if RankSumChance(x[:6], x[6:]) <= 0.05 {
			differ++
		}
	}
	if share := float64(rises) / series; share > 0.055 {
		t.Errorf("%.4f of the series without a trend rise", share)
	}
	if share := float64(differ) / series; share > 0.055 || share < 0.03 {
		t.Errorf("%.4f of equal samples differ", share)
	}
}

func TestRankSumChanceOfWhatIsApart(t *testing.T) {
	if chance := RankSumChance([]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}); math.Abs(chance-2.0/70) > 1e-12 {
		t.Errorf("the chance is %g, want 2 of 70", chance)
	}
	if chance := RankSumChance([]float64{1, 1}, []float64{1, 1, 1}); chance != 1 {
		t.Errorf("the chance of what is tied is %g", chance)
	}
	four := []float64{1, 2, 3, 4}
	for name, x := range map[string][]float64{"nothing": nil, "NaN": {9, 9, 9, math.NaN()}, "an infinity": {9, 9, 9, math.Inf(1)}} {
		labtest.Equal(t, name+" first", RankSumChance(x, four), 1)
		labtest.Equal(t, name+" second", RankSumChance(four, x), 1)
	}
}

// Above 2,500 pairs the chance is that of a normal distribution, which is nearly the exact one.
func TestRankSumChanceOfManyValues(t *testing.T) {
	for _, c := range []struct{ m, n int }{{50, 50}, {51, 51}, {60, 45}} {
		for _, shift := range []float64{0.5, 3.5, 7.5} {
			x, y, below := make([]float64, c.m), make([]float64, c.n), 0
			for i := range x {
				x[i] = float64(i)*float64(c.n)/float64(c.m) + 0.01 // no ties
			}
			for j := range y {
				y[j] = float64(j) + shift
				for _, a := range x {
					if y[j] < a {
						below++
					}
				}
			}
			exact, tolerance := 0.0, 1e-12
			for _, p := range rankSumDistribution(c.m, c.n)[:min(below, c.m*c.n-below)+1] {
				exact += p
			}
			if c.m*c.n > exactPairs {
				tolerance = 2e-3
			}
			labtest.Near(t, fmt.Sprintf("%d and %d, %v apart", c.m, c.n, shift), RankSumChance(x, y), min(1, 2*exact), tolerance)
		}
	}
}
