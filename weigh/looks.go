package weigh

import (
	"tare/result"
	"tare/stats"
	"tare/workload"
)

// MostLooked is after how many blocks a run has its last look, unless it has the time
// for more.
const MostLooked = 30

// errorRate is how often a run may decide wrongly by chance.
const errorRate = 0.05

// Look is how much of the error rate may be spent after so many blocks of a run that
// has its last look after most: it looks a few times at what is decided, and each time
// could be wrong. due is false where it does not look.
func Look(blocks, most int) (rate float64, due bool) {
	spent := 0.0
	for _, at := range [...]int{7, 10, 15, 22, MostLooked} {
		at = at * most / MostLooked
		may := stats.Spend(errorRate, float64(at)/float64(most))
		if at == blocks {
			return may - spent, true
		}
		spent = may
	}
	return 0, false
}

// Measured is how many blocks the group has.
func (g *Group) Measured() int {
	kind, _ := workload.Find(g.Workload)
	return len(BlocksOf(g.Baseline, kind.Headline))
}

// Decided reports whether a look that may be wrong at this rate has a verdict for a
// cell's headline metric. A cell without one, as where it failed, needs no more blocks.
func (g *Group) Decided(cell *result.Cell, declared, rate float64) bool {
	if cell.Status != result.StatusOK || g.Baseline == nil {
		return true
	}
	kind, _ := workload.Find(cell.Workload)
	q, _ := result.QuantityOf(kind.Headline)
	ratios := stats.LogRatios(Pairs(BlocksOf(cell, q.Name), BlocksOf(g.Baseline, q.Name)))
	interval, whole := stats.TollAt(ratios, Direction(q), rate)
	return judged(interval, whole, g.Margins(q, declared)).Verdict != stats.Inconclusive
}
