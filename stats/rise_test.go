package stats

import (
	"math"
	"math/rand/v2"
	"testing"
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
	if chance := RankSumChance(nil, []float64{1}); chance != 1 {
		t.Errorf("the chance of nothing is %g", chance)
	}
}
