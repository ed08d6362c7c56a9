package weigh

import (
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// Options are what the samples do not hold.
type Options struct {
	Margin float64 // declared by the plan
	// Warnings are what affects every number of a cell.
	Warnings func(*result.Cell) []string
	// Last: nothing more will be measured. An inconclusive toll then includes how
	// many blocks would decide it, which takes long to compute.
	Last bool
	// Headlines: no other metrics are weighed, for a look between blocks.
	Headlines bool
}

// quantities are the metrics of a cell that are weighed.
func (o Options) quantities(cell *result.Cell) []result.Quantity {
	all := quantitiesOf(cell)
	if o.Headlines {
		kind, _ := catalog.FindWorkload(cell.Workload)
		all = slices.DeleteFunc(all, func(q result.Quantity) bool { return q.Name != kind.Headline })
	}
	return all
}

// Result turns the samples of cells, which have their groups' keys, into metrics
// with tolls, and gives the comparisons of each baseline with itself.
func Result(cells []*result.Cell, o Options) []result.AA {
	aa := []result.AA{}
	groups := GroupsOf(cells)
	w := weighing{Options: o, scale: ScaleOf(groups, o.Margin)}
	w.family = w.families(groups)
	for _, g := range groups {
		if g.Baseline != nil {
			aa = append(aa, w.group(g)...)
			continue
		}
		for _, cell := range g.Cells { // nothing is there to weigh them against
			cell.Metrics = Unweighed(cell)
			for n := range cell.Metrics {
				cell.Metrics[n].Warnings = append(cell.Metrics[n].Warnings, o.Warnings(cell)...)
			}
		}
	}
	predictApplications(groups)
	return aa
}

// weighing weighs the cells of one run.
type weighing struct {
	Options
	scale  *Scale
	family family
}

// group weighs the cells of a group against its baselines.
func (w weighing) group(g *Group) []result.AA {
	aa := w.baseline(g)
	for _, cell := range g.Cells {
		if cell == g.Baseline {
			continue
		}
		cell.Metrics = nil
		for _, q := range w.quantities(cell) {
			m := metricOf(cell, q)
			if value, ok := location(g.Baseline, q); ok {
				m.Baseline = &result.Baseline{Network: catalog.Baseline, Value: value.Value}
				m.Toll, m.Warnings = w.toll(g, cell, q)
			}
			m.Warnings = append(m.Warnings, w.Warnings(cell)...)
			cell.Metrics = append(cell.Metrics, m)
		}
		addPooled(cell)
		addCeilings(cell, g.Baseline)
	}
	return aa
}

// baseline weighs the two baselines of a group against each other: A/A, which is judged by the
// declared margin alone.
func (w weighing) baseline(g *Group) (all []result.AA) {
	cell := g.Baseline
	cell.Metrics = nil
	for _, q := range w.quantities(cell) {
		m, own := metricOf(cell, q), g.aa(q)
		against := w.scale.Margins(g, q).declared()
		pairs := BlocksOf(cell, q.Name).AA()
		if ratios := stats.LogRatios(pairs); len(ratios) > 0 && enough(len(ratios), cell) {
			m.Baseline = &result.Baseline{Network: catalog.Baseline, Value: m.Value}
			m.Toll = inFile(judged(own.Estimate, own.whole, q, against), pairs)
		}
		if m.Toll != nil && m.Toll.Low != nil {
			all = append(all, result.AA{
				Path: g.Path, Workload: g.Workload, Params: cell.Params, Metric: q.Name,
				Low: *m.Toll.Low, High: *m.Toll.High, Verdict: m.Toll.Verdict,
			})
		}
		m.Warnings = append(m.Warnings, w.Warnings(cell)...)
		cell.Metrics = append(cell.Metrics, m)
	}
	addPooled(cell)
	addCeilings(cell, cell)
	return all
}

// toll is what a cell costs on a quantity, and what to know of it. It is nil where too few blocks of
// the cell have a ratio, as with a baseline of zero.
func (w weighing) toll(g *Group, cell *result.Cell, q result.Quantity) (*result.Toll, []string) {
	at := w.scale.of(g, q)
	own, warnings := at.tolls[cell], []string{}
	if len(own.ratios) == 0 || !enough(len(own.ratios), cell) {
		return nil, warnings
	}
	judged, rate, byChance := w.family.judge(own, cell, q, at.margins)
	t := inFile(judged, Pairs(BlocksOf(cell, q.Name), BlocksOf(g.Baseline, q.Name)))
	if w.Last && judged.Verdict == stats.Inconclusive {
		t.BlocksToSay, _ = stats.BlocksNeeded(own.Estimate, len(own.ratios), at.margins.Margins, Direction(q), rate)
	}
	if at.margins.Unsteady {
		warnings = append(warnings, "aa-differs: the two baselines of this group differ by more than the margin: smaller tolls are inconclusive")
	}
	if byChance {
		warnings = append(warnings, "one-of-many: its own interval lies beyond the margin, but in so many comparisons one may do so by chance: measure more blocks")
	}
	return t, warnings
}

// inFile is a weighing of pairs as a file holds it.
func inFile(w Weighing, pairs []stats.Block) *result.Toll {
	t := &result.Toll{Value: w.Value, Margin: w.Margin, Verdict: string(w.Verdict)}
	if by, known, n := delta(pairs); n > 0 {
		t.Delta.Value = by.Value
		if known {
			t.Delta.Low, t.Delta.High = ends(by)
		}
	}
	if w.Whole {
		t.Low, t.High = ends(w.Interval)
	}
	return t
}
