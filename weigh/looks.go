package weigh

import (
	"tare/result"
	"tare/stats"
	"tare/workload"
)

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
