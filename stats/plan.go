package stats

import (
	"math"
	"slices"
)

const (
	// efficiency is that of the signed-rank interval against Student's under
	// normal noise: 3/pi. Under heavier tails it is larger, so that the
	// computations here err towards more blocks.
	efficiency = 0.955

	// power is how often a comparison is to find the toll that it is planned for.
	power = 0.8

	// mostBlocks bounds the computation: such a run takes hours.
	mostBlocks = 1000
)

// Spread is the standard deviation of a block's log ratio, from those of an
// A/A comparison. ok is false below two of them.
func Spread(logRatios []float64) (spread float64, ok bool) {
	if len(logRatios) < 2 {
		return 0, false
	}
	return sd(logRatios), true
}

// BlocksNeeded is how many blocks, more than the present ones, would turn an inconclusive
// comparison into another verdict, if its estimate holds: with more blocks the first of what it is
// uncertain by shrinks. rate is how often the verdict may be wrong. Simulated with normal noise, they
// do so in 65 to 90 % of experiments. ok is false where it is unknown: without an interval, and where
// 1000 blocks would not do, since the estimate lies on a margin.
func BlocksNeeded(e Estimate, present int, margins Margins, direction Direction, rate float64) (blocks int, ok bool) {
	if len(e.Uncertain) == 0 {
		return 0, false
	}
	then := Estimate{e.Value, slices.Clone(e.Uncertain)}
	for blocks = present + 1; blocks <= mostBlocks; blocks++ {
		more := float64(blocks) / float64(present)
		then.Uncertain[0] = Variance{e.Uncertain[0].Of / more, e.Uncertain[0].Freedom * more}
		if Judge(direction.toll(around(e.Value, then.variance().reach(rate))), margins) != Inconclusive {
			return blocks, true
		}
	}
	return 0, false
}

// Detectable is the smallest toll that so many blocks find slower about four
// times in five, where the log ratios of the A/A comparison have the given
// spread and a cell is as noisy as its two baselines. The interval of such a
// toll must clear the declared margin. Layouts are taken to differ as they do as
// a rule; that some verdicts of a large run are held back is left out.
//
// Simulated with normal noise, 7 to 40 blocks find it in 76 to 83 % of
// experiments, and 6 blocks in 65 to 73 %. It is computed for a metric where
// lower is better; where higher is better the same noise hides a little less,
// and a large toll is found more often. ok is false below MinBlocks blocks,
// for a spread that is negative or not finite, and for a negative margin.
func Detectable(spread float64, blocks int, declared float64) (toll float64, ok bool) {
	if blocks < MinBlocks || !(spread >= 0) || math.IsInf(spread, 1) || !(declared >= 0) {
		return 0, false
	}
	noise := Variance{spread * spread / (efficiency * float64(blocks)), float64(blocks - 1)}
	usual := Variance{usualLayout * usualLayout, mostFreedom}
	v := Estimate{Uncertain: []Variance{noise, usual}}.variance().Times(TollLayouts)
	return math.Expm1(math.Log1p(declared) + v.reach(0.05)), true
}

// TollLayouts is the variance of a network's difference from the mean of two baselines, 1 + 1/2, over that
// of one baseline's from the other, 1 + 1.
const TollLayouts = 0.75

// BlocksFor is the least number of blocks that find such a toll: the inverse
// of Detectable. ok is false where 1000 blocks would not do, and always for a
// toll within the declared margin.
func BlocksFor(spread, toll, declared float64) (blocks int, ok bool) {
	for blocks = MinBlocks; blocks <= mostBlocks; blocks++ {
		if least, ok := Detectable(spread, blocks, declared); ok && least <= toll {
			return blocks, true
		}
	}
	return 0, false
}

// reach is how far an estimate of that variance must lie from a limit for its interval, which misses at
// a rate, to clear it with the probability power.
func (v Variance) reach(rate float64) float64 {
	freedom := v.wholeFreedom()
	return (studentQuantile(1-rate/2, freedom) + studentQuantile(power, freedom)) * math.Sqrt(v.Of)
}
