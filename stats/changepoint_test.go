package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A run without a change has one in 5 % of all runs at most, whatever its noise and however many
// series it has.
func TestSteadyRunHasNoChange(t *testing.T) {
	const runs, rate = 250, 0.05
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
			if share := float64(alarms) / runs; share > rate+0.035 { // 2.5 standard errors
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
		t.Errorf("changes %+v, want at 20 and 40", changes)
	}
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
func TestDriftIsSeldomAChange(t *testing.T) {
	const runs, rounds = 300, 144
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
		t.Logf("correlation %.1f: %.3f have a change", r, float64(alarms)/runs)
		if float64(alarms)/runs > 0.18 { // and 1.5 standard errors
			t.Errorf("correlation %.1f: %d of %d runs have a change", r, alarms, runs)
		}
	}
}
