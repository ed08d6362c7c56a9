package weigh

import (
	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// Measured is how many blocks the group has.
func (g *Group) Measured() int {
	kind, _ := catalog.FindWorkload(g.Workload)
	return len(BlocksOf(g.Baseline, kind.Headline))
}

// Decided reports whether a look that may be wrong at this rate has a verdict for a
// cell's headline metric. A cell without one, as where it failed, needs no more blocks.
func (s *Scale) Decided(g *Group, cell *result.Cell, rate float64) bool {
	if cell.Status != result.StatusOK || g.Baseline == nil {
		return true
	}
	kind, _ := catalog.FindWorkload(cell.Workload)
	q, _ := result.QuantityOf(kind.Headline)
	at := s.of(g, q)
	toll := at.tolls[cell]
	return toll.whole && stats.Judge(toll.Toll(Direction(q), rate), at.margins.Margins) != stats.Inconclusive
}
