package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tare/test/labtest"
)

// A run without a change has one in 5 % of all runs at most, whatever its noise and however many
// series it has.
func TestSteadyRunHasNoChange(t *testing.T)     { hasNoChange(t, 40, 0.09) }
func TestDeepSteadyRunHasNoChange(t *testing.T) { hasNoChange(t, 250, 0.035) }

// hasNoChange simulates so many runs of each kind; off is 2.5 standard errors of their share.
func hasNoChange(t *testing.T, runs int, off float64) {
	t.Helper()
	const rate = 0.05
	finder := ChangeFinder{}
	for name, noise := range noises() {
		for rounds, series := range map[int]int{12: 8, 24: 8, 144: 2} {
			random := rand.New(rand.NewPCG(5, uint64(rounds)))
			alarms := 0
			for range runs {
				if foundIn(&finder, series, rate, func(int) []float64 { return noisy(rounds, func() float64 { return noise(random) }) }) > 0 {
					alarms++
				}
			}
			if share := float64(alarms) / float64(runs); share > rate+off {
				t.Errorf("%s, %d rounds: %.4f of the runs have a change", name, rounds, share)
			}
		}
	}
}

func noisy(rounds int, noise func() float64) []float64 {
	x := make([]float64, rounds)
	for i := range x {
		x[i] = noise()
	}
	return x
}

// foundIn is how many series of a run have a change.
func foundIn(finder *ChangeFinder, series int, rate float64, of func(n int) []float64) (found int) {
	var all [][]float64
	var chances []float64
	for n := range series {
		all = append(all, of(n))
		chances = append(chances, finder.Chance(all[n]))
	}
	at := FalseRate(chances, rate)
	for _, x := range all {
		if at > 0 && len(finder.Find(x, at)) > 0 {
			found++
		}
	}
	return found
}

// A step of two standard deviations among 24 rounds is found, mostly to the round.
func TestStepIsFoundWhereItIs(t *testing.T) {
	const runs, rounds = 1_500, 24
	for _, step := range []int{8, 12, 16} {
		random, finder := rand.New(rand.NewPCG(6, uint64(step))), ChangeFinder{}
		found, near := 0, 0
		for range runs {
			x := noisy(rounds, random.NormFloat64)
			for i := step; i < rounds; i++ {
				x[i] += 2
			}
			changes := finder.Find(x, 0.05)
			if len(changes) == 0 {
				continue
			}
			found++
			if slices.ContainsFunc(changes, func(c ChangePoint) bool { return math.Abs(float64(c.At-step)) <= 1 }) {
				near++
			}
		}
		t.Logf("step at %d: found %.3f, within a round %.3f of them", step, float64(found)/runs, float64(near)/float64(found))
		if float64(found)/runs < 0.9 {
			t.Errorf("step at %d: found in %d of %d runs", step, found, runs)
		}
		if float64(near) < 0.75*float64(found) {
			t.Errorf("step at %d: %d of %d are within a round", step, near, found)
		}
	}
}

// What came and went again is two changes, each at its place.
func TestTwoStepsAreTwoChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	x := make([]float64, 60)
	for i := range x {
		x[i] = 0.2 * random.NormFloat64()
		if i >= 20 && i < 40 {
			x[i]++
		}
	}
	finder := ChangeFinder{}
	changes := finder.Find(x, 0.05)
	if len(changes) != 2 || changes[0].At != 20 || changes[1].At != 40 {
		t.Fatalf("changes %+v, want at 20 and 40", changes)
	}
	// Each is as clear as it is among the values between its neighbours.
	labtest.Equal(t, "chance of the first", changes[0].Chance, finder.Chance(x[:40]))
	labtest.Equal(t, "chance of the second", changes[1].Chance, finder.Chance(x[20:]))
}

func TestOutlierIsNoChange(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	x := make([]float64, 30)
	for i := range x {
		x[i] = random.NormFloat64()
	}
	x[13], x[14] = 1000, -1000
	finder := ChangeFinder{}
	for name, series := range map[string][]float64{"outliers": x, "all the same": make([]float64, 30), "five": {1, 1, 1, 9, 9}, "NaN": {1, 1, 1, math.NaN(), 9, 9, 9}} {
		if changes := finder.Find(series, 0.05); len(changes) > 0 {
			t.Errorf("%s: changes %+v", name, changes)
		}
	}
}

// Rounds that follow each other closely, as where a machine drifts, seem to have a change less often than
// they would; of 144 rounds in about 13 % of all cases.
func TestDriftIsSeldomAChange(t *testing.T)     { isSeldomAChange(t, 60, 0.23) }
func TestDeepDriftIsSeldomAChange(t *testing.T) { isSeldomAChange(t, 300, 0.18) }

// isSeldomAChange simulates so many runs; most is their share, and at least 1.5 standard errors.
func isSeldomAChange(t *testing.T, runs int, most float64) {
	t.Helper()
	const rounds = 144
	finder := ChangeFinder{}
	for _, r := range []float64{0.2, 0.3, 0.5} {
		random := rand.New(rand.NewPCG(11, 11))
		alarms, last := 0, random.NormFloat64()
		for range runs {
			x := noisy(rounds, func() float64 {
				last = r*last + math.Sqrt(1-r*r)*random.NormFloat64()
				return last
			})
			if len(finder.Find(x, 0.05)) > 0 {
				alarms++
			}
		}
		t.Logf("correlation %.1f: %.3f have a change", r, float64(alarms)/float64(runs))
		if float64(alarms)/float64(runs) > most {
			t.Errorf("correlation %.1f: %d of %d runs have a change", r, alarms, runs)
		}
	}
}

// Six values have 20 orders of three before three; two of them are as clear as can be.
func TestChanceOfAChangeIsThatAmongAllOrders(t *testing.T) {
	finder := ChangeFinder{}
	rising := []float64{1, 2, 3, 4, 5, 6}
	chance := finder.Chance(rising)
	labtest.Near(t, "three below three", chance, 2.0/20, 0.01)
	labtest.Near(t, "the least clear of all", finder.Chance([]float64{1, 4, 5, 2, 3, 6}), 1, 1e-9)
	labtest.Equal(t, "too few", finder.Chance(rising[:5]), 1)
	labtest.Equal(t, "all the same", finder.Chance(make([]float64, 12)), 1)
	labtest.Equal(t, "not a number", finder.Chance([]float64{1, 1, 1, math.NaN(), 9, 9, 9}), 1)

	// What is as rare as the rate is found, what is less rare is not.
	if changes := finder.Find(rising, chance); len(changes) != 1 || changes[0] != (ChangePoint{3, chance}) {
		t.Errorf("at a rate of %v: %+v", chance, changes)
	}
	if changes := finder.Find(rising, chance-1e-6); len(changes) > 0 {
		t.Errorf("below a rate of %v: %+v", chance, changes)
	}
}

// The statistic is the rank sum test's z, with its correction for ties (Lehmann, Nonparametrics, 1.4).
func TestClearestPlaceAndHowClear(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		at   int
		size float64
	}{
		{[]float64{1, 2, 3, 4, 5, 6}, 3, 4.5 / math.Sqrt(9*7.0/12)},
		{[]float64{1, 2, 3, 4, 15, 16, 17, 18, 19, 20, 21, 22}, 6, 18 / math.Sqrt(36*13.0/12)},
		{[]float64{1, 1, 1, 2, 2, 2}, 3, 4.5 / math.Sqrt(9*(7-48.0/30)/12)},
		{[]float64{9, 9, 9, 9, 1, 1, 1}, 4, 6 / math.Sqrt(12*(8-(60+24.0)/42)/12)},
		{[]float64{1, 1, 1, 5, 5, 5, 1, 1, 1}, 3, 4.5 / math.Sqrt(18*(10-(210+24.0)/72)/12)}, // two as clear: the first
		{[]float64{2, 2, 2, 2, 2, 2}, 0, 0},
		{[]float64{1, 1, 9, 9, 9}, 0, 0},
	} {
		at, size := clearest(c.x)
		if at != c.at || math.Abs(size-c.size) > 1e-12 {
			t.Errorf("%v: at %d by %v, want at %d by %v", c.x, at, size, c.at, c.size)
		}
	}
}

// Values that follow each other closely show less: of an autoregression that lowers the statistic by
// sqrt((1+r)/(1-r)). Here r is (8 x 7 - 1.5 x 1.5)/(8 x 10).
func TestValuesThatFollowEachOtherShowLess(t *testing.T) {
	wave := []float64{1, 2, 3, 4, 4, 3, 2, 1}
	finder := ChangeFinder{}
	r := 53.75 / 80
	labtest.Near(t, "eight waves", finder.inflation(slices.Repeat(wave, 8)), math.Sqrt((1+r)/(1-r)), 1e-9)
	labtest.Equal(t, "one wave may be chance", finder.inflation(wave), 1)
	labtest.Equal(t, "what turns back each time", finder.inflation(slices.Repeat([]float64{1, 9}, 20)), 1)
}

// A step of a wave is less sure than the same step of the same values in another order.
func TestStepOfAWaveIsLessSure(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 12))
	half := slices.Repeat([]float64{1, 2, 3, 4, 4, 3, 2, 1}, 4)
	mixed := slices.Clone(half)
	random.Shuffle(len(mixed), func(a, b int) { mixed[a], mixed[b] = mixed[b], mixed[a] })
	wave, others := slices.Clone(half), slices.Clone(mixed)
	for i := range half {
		wave, others = append(wave, half[i]+1), append(others, mixed[i]+1)
	}
	finder := ChangeFinder{}
	more, less := finder.Chance(wave), finder.Chance(others)
	labtest.Between(t, "chance in a wave", more, 20*less, 1)
	rate := math.Sqrt(more * less)
	labtest.Equal(t, "changes of the wave", len(finder.Find(wave, rate)), 0)
	labtest.Equal(t, "changes of the others", len(finder.Find(others, rate)), 1)
}

// The example of Benjamini and Hochberg, 1995: of 15 hypotheses four are rejected at 0.05.
func TestFalseRateOfThePublishedExample(t *testing.T) {
	chances := []float64{0.0459, 0.0001, 0.0004, 0.0278, 0.0019, 0.0095, 0.0201, 0.0298, 0.0344, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1}
	labtest.Near(t, "the rate of the four", FalseRate(chances, 0.05), 0.05*4/15, 1e-12)
	labtest.Equal(t, "a chance of the rate", FalseRate([]float64{0.05}, 0.05), 0.05)
	labtest.Equal(t, "none", FalseRate([]float64{0.2, 0.5}, 0.05), 0)
}
