package weigh

import (
	"math"
	"slices"

	"tare/result"
	"tare/stats"
)

// leastCycles is how many cycles of a block must have all that is compared.
const leastCycles = 3

// against pairs a block with the same block of another cell: cycle by cycle where
// they took turns.
func (b Block) against(than Block) stats.Block {
	if b.cyclesA == nil || than.cyclesA == nil {
		return stats.Block{Cell: b.Mean(), Baselines: than.values()}
	}
	of, baselines := b.cyclesA, [][]float64{than.cyclesA}
	if b.cyclesB != nil { // one baseline against another is weighed by AA
		return stats.Block{Cell: b.Mean(), Baselines: than.values()}
	}
	if than.cyclesB != nil {
		baselines = append(baselines, than.cyclesB)
	}
	return inCycles(of, baselines...)
}

// Paired reports whether a run that took turns with baselines in a block has as many
// whole cycles with them as a toll on the metric needs.
func Paired(metric string, run result.Sample, baselines ...result.Sample) bool {
	return len(Differences(metric, run, baselines...)) >= leastCycles
}

// Differences are by how much a run in slots differs in log from the mean of its
// baselines, for each cycle of their block that has all of them; none where one of them
// did not take turns.
func Differences(metric string, run result.Sample, baselines ...result.Sample) []float64 {
	if run.Slots == nil {
		return nil
	}
	var others [][]float64
	for _, b := range baselines {
		if b.Slots == nil {
			return nil
		}
		others = append(others, b.Slots.Values[metric])
	}
	each, _ := differences(run.Slots.Values[metric], others...)
	return each
}

// inCycles is a block's value against baselines, from those cycles that have all of
// them: the baselines are their means in log, and the value differs from these as it
// does within a cycle, in the location of all (Hodges-Lehmann). NaN: there are too few.
func inCycles(of []float64, baselines ...[]float64) stats.Block {
	pair := stats.Block{Cell: math.NaN(), Baselines: slices.Repeat([]float64{math.NaN()}, len(baselines))}
	each, means := differences(of, baselines...)
	if len(each) < leastCycles {
		return pair
	}
	base := 0.0
	for n, at := range means {
		pair.Baselines[n] = math.Exp(at)
		base += at / float64(len(means))
	}
	by, _ := stats.HodgesLehmann(each)
	pair.Cell = math.Exp(by.Value + base)
	return pair
}

// differences are, for each cycle that has all values, by how much one differs in log
// from the mean of its baselines; means are those of each baseline's logarithms.
func differences(of []float64, baselines ...[]float64) (each, means []float64) {
	means = make([]float64, len(baselines))
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
			means[n] += l
			mean += l / float64(len(logs))
		}
		each = append(each, math.Log(v)-mean)
	}
	for n := range means {
		means[n] /= float64(len(each))
	}
	return each, means
}
