package weigh

import (
	"math"
	"slices"

	"tare/stats"
)

// leastCycles is how many cycles of a block must have all that is compared.
const leastCycles = 3

// against pairs a block with the same block of another cell: cycle by cycle where
// they took turns.
func (b Block) against(than Block) stats.Block {
	if b.a == nil || than.a == nil {
		return stats.Block{Cell: b.Mean(), Baselines: than.values()}
	}
	of, baselines := b.a, [][]float64{than.a}
	if b.b != nil { // one baseline against another is weighed by AA
		return stats.Block{Cell: b.Mean(), Baselines: than.values()}
	}
	if than.b != nil {
		baselines = append(baselines, than.b)
	}
	return inCycles(of, baselines...)
}

// inCycles is a block's value against baselines, from those cycles that have all of
// them: the baselines are their means in log, and the value differs from these as it
// does within a cycle, in the location of all (Hodges-Lehmann). NaN: there are too few.
func inCycles(of []float64, baselines ...[]float64) stats.Block {
	var differences []float64
	sums := make([]float64, len(baselines))
	for cycle, v := range of {
		logs, all := make([]float64, len(baselines)), v > 0
		for n, b := range baselines {
			all = all && cycle < len(b) && b[cycle] > 0
			if all {
				logs[n] = math.Log(b[cycle])
			}
		}
		if !all {
			continue
		}
		mean := 0.0
		for n, l := range logs {
			sums[n] += l
			mean += l / float64(len(logs))
		}
		differences = append(differences, math.Log(v)-mean)
	}
	pair := stats.Block{Cell: math.NaN(), Baselines: slices.Repeat([]float64{math.NaN()}, len(baselines))}
	if len(differences) < leastCycles {
		return pair
	}
	mean := 0.0
	for n, sum := range sums {
		at := sum / float64(len(differences))
		pair.Baselines[n] = math.Exp(at)
		mean += at / float64(len(sums))
	}
	at, _ := stats.HodgesLehmann(differences)
	pair.Cell = math.Exp(at.Value + mean)
	return pair
}
