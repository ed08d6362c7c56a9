package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// noises are what a block may do to the logarithm of a value, about 5 % large.
func noises() map[string]func(*rand.Rand) float64 {
	return map[string]func(*rand.Rand) float64{
		"log-normal": func(r *rand.Rand) float64 { return 0.05 * r.NormFloat64() },
		"heavy tails (Student's t of 3)": func(r *rand.Rand) float64 {
			a, b, c := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
			return 0.05 * r.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
		},
		"skewed (exponential)": func(r *rand.Rand) float64 { return 0.05 * r.ExpFloat64() },
		"skewed (log-normal of sigma 1)": func(r *rand.Rand) float64 {
			return 0.05 * math.Exp(r.NormFloat64())
		},
		"one block in ten stalls": func(r *rand.Rand) float64 {
			if r.IntN(10) == 0 {
				return -0.3 * r.ExpFloat64()
			}
			return 0.02 * r.NormFloat64()
		},
	}
}

// experiment makes the blocks of a cell whose values fall by the toll, and of the
// A/A comparison of its baselines. All values of a block share a disturbance.
func experiment(r *rand.Rand, blocks int, toll float64, noise func(*rand.Rand) float64) (cell, aa []float64) {
	var cells, baselines []Block
	for range blocks {
		block := 1e10 * math.Exp(0.5*r.NormFloat64())
		value := func() float64 { return block * math.Exp(noise(r)) }
		first, second := value(), value()
		cells = append(cells, Block{value() * (1 - toll), []float64{first, second}})
		baselines = append(baselines, Block{second, []float64{first}})
	}
	return LogRatios(cells), LogRatios(baselines)
}

func TestTollIntervalCovers(t *testing.T) {
	const experiments, blocks, toll = 10_000, 10, 0.1
	for name, noise := range noises() {
		random := rand.New(rand.NewPCG(1, 2))
		covered := 0
		for range experiments {
			ratios, _ := experiment(random, blocks, toll, noise)
			if got, ok := Toll(ratios, HigherIsBetter); ok && got.Low <= toll && toll <= got.High {
				covered++
			}
		}
		coverage := float64(covered) / experiments
		t.Logf("%s: %.4f", name, coverage)
		if coverage < 0.93 || coverage > 0.97 {
			t.Errorf("%s: the interval covers %.4f", name, coverage)
		}
	}
}

func TestEqualNetworksAreJudgedEqual(t *testing.T) {
	const experiments = 4_000
	for name, noise := range noises() {
		for _, blocks := range []int{MinBlocks, 10, 20} {
			random := rand.New(rand.NewPCG(3, 4))
			distinguished := 0
			for range experiments {
				if verdict := judged(experiment(random, blocks, 0, noise)); verdict == Slower || verdict == Faster {
					distinguished++
				}
			}
			if share := float64(distinguished) / experiments; share >= 0.01 {
				t.Errorf("%s, %d blocks: %.4f of equal pairs are distinguished", name, blocks, share)
			}
		}
	}
}

func judged(cell, aa []float64) Verdict {
	toll, _ := Centre(cell)
	layout, _ := Centre(aa)
	return judgedBy(HigherIsBetter, toll, Layout([]Estimate{layout}))
}

func judgedBy(direction Direction, toll Estimate, layout Variance) Verdict {
	return Judge(toll.And(layout.Times(TollLayouts)).Toll(direction, 0.05), declared())
}

// share is how often experiments of normal noise end in the verdict, where layouts are known to differ
// by so much, and do.
func share(want Verdict, direction Direction, blocks int, toll, sigma float64, layout Variance) float64 {
	const experiments = 1_500
	random := rand.New(rand.NewPCG(5, 6))
	noise := func(r *rand.Rand) float64 { return sigma * r.NormFloat64() }
	if direction == LowerIsBetter {
		toll = -toll
	}
	got := 0
	for range experiments {
		cell, _ := experiment(random, blocks, toll, noise)
		centre, _ := Centre(cell)
		centre.Value += math.Sqrt(TollLayouts*layout.Of) * random.NormFloat64()
		if judgedBy(direction, centre, layout) == want {
			got++
		}
	}
	return float64(got) / experiments
}

func TestDetectableTollsAreFoundFourTimesInFive(t *testing.T) {
	for _, blocks := range []int{MinBlocks, 7, 10, 20, 40} {
		least := 0.75
		if blocks == MinBlocks {
			least = 0.62
		}
		for _, sigma := range []float64{0.002, 0.01, 0.03} {
			toll, ok := Detectable(sigma*math.Sqrt2, blocks, DeclaredMargin)
			if !ok {
				t.Fatalf("%d blocks, sigma %v: nothing is detectable", blocks, sigma)
			}
			for direction, name := range map[Direction]string{HigherIsBetter: "throughput", LowerIsBetter: "latency"} {
				found := share(Slower, direction, blocks, toll, sigma, Variance{usualLayout * usualLayout, 40})
				t.Logf("%d blocks, sigma %v, %s: a toll of %.4f is found in %.3f", blocks, sigma, name, toll, found)
				if found < least || found > 0.9 {
					t.Errorf("%d blocks, sigma %v, %s: a toll of %.4f is found in %.3f", blocks, sigma, name, toll, found)
				}
			}
		}
	}
}

func TestRatioOfSumsCovers(t *testing.T) {
	const experiments, truth = 10_000, 2.0
	for _, test := range []struct{ sigma, least float64 }{{0.03, 0.945}, {0.1, 0.94}, {0.3, 0.93}} {
		for _, blocks := range []int{MinBlocks, 10, 20} {
			random := rand.New(rand.NewPCG(7, 8))
			covered := 0
			for range experiments {
				cost, work := make([]float64, blocks), make([]float64, blocks)
				for i := range cost {
					work[i] = math.Exp(0.1 * random.NormFloat64())
					cost[i] = truth * work[i] * math.Exp(test.sigma*random.NormFloat64()-test.sigma*test.sigma/2)
				}
				if got, ok := RatioOfSums(cost, work); ok && got.Low <= truth && truth <= got.High {
					covered++
				}
			}
			coverage := float64(covered) / experiments
			t.Logf("sigma %v, %d blocks: %.4f", test.sigma, blocks, coverage)
			if coverage < test.least || coverage > 0.97 {
				t.Errorf("sigma %v, %d blocks: the interval covers %.4f", test.sigma, blocks, coverage)
			}
		}
	}
}

// The share of a toll that a step explains, where each block disturbs what is above the
// step and what is below it.
func TestShareIntervalCovers(t *testing.T) {
	const experiments, blocks, whole, part = 5_000, 10, 0.3, 0.2
	for name, noise := range noises() {
		random := rand.New(rand.NewPCG(3, 4))
		covered := 0
		for range experiments {
			parts, wholes := map[int]float64{}, map[int]float64{}
			var all, steps []float64
			for block := range blocks {
				above, below, baseline := noise(random), noise(random), noise(random)
				wholes[block], parts[block] = whole+above-baseline, part+above-below
				all, steps = append(all, wholes[block]), append(steps, parts[block])
			}
			of, _ := HodgesLehmann(all)
			step, _ := HodgesLehmann(steps)
			if got, ok := Share(step.Value/of.Value, of.Value, parts, wholes); ok && got.Low <= part/whole && part/whole <= got.High {
				covered++
			}
		}
		coverage := float64(covered) / experiments
		t.Logf("%s: %.4f", name, coverage)
		if coverage < 0.93 || coverage > 0.98 {
			t.Errorf("%s: the interval covers %.4f", name, coverage)
		}
	}
}
