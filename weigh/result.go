package weigh

import (
	"math"
	"slices"

	"tare/network"
	"tare/result"
	"tare/stats"
	"tare/workload"
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
		kind, _ := workload.Find(cell.Workload)
		all = slices.DeleteFunc(all, func(q result.Quantity) bool { return q.Name != kind.Headline })
	}
	return all
}

// Result turns the samples of cells, which have their groups' keys, into metrics
// with tolls, and gives the comparisons of each baseline with itself.
func Result(cells []*result.Cell, o Options) []result.AA {
	aa := []result.AA{}
	groups := GroupsOf(cells)
	for _, g := range groups {
		if g.Baseline != nil {
			aa = append(aa, g.weigh(o)...)
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

// weigh weighs the cells of a group against its baselines.
func (g *Group) weigh(o Options) []result.AA {
	aa := g.weighBaseline(o)
	for _, cell := range g.Cells {
		if cell == g.Baseline {
			continue
		}
		cell.Metrics = nil
		for _, q := range o.quantities(cell) {
			margins := g.Margins(q, o.Margin)
			m := metricOf(cell, q)
			if value, ok := location(g.Baseline, q); ok {
				m.Baseline = &result.Baseline{Network: network.Baseline, Value: value.Value}
				m.Toll = toll(Pairs(BlocksOf(cell, q.Name), BlocksOf(g.Baseline, q.Name)), q, margins, cell, o)
			}
			if m.Toll != nil && Unsteady(margins) {
				m.Warnings = append(m.Warnings, "aa-differs: the two baselines of this group differ by more than the margin: smaller tolls are inconclusive")
			}
			m.Warnings = append(m.Warnings, o.Warnings(cell)...)
			cell.Metrics = append(cell.Metrics, m)
		}
		addPooled(cell)
		addCeilings(cell, g.Baseline)
	}
	return aa
}

// weighBaseline weighs the two baselines against each other: A/A, which is judged
// by the declared margin and its own width.
func (g *Group) weighBaseline(o Options) (all []result.AA) {
	cell := g.Baseline
	cell.Metrics = nil
	for _, q := range o.quantities(cell) {
		m := metricOf(cell, q)
		m.Toll = toll(BlocksOf(cell, q.Name).AA(), q, centred(g.Margins(q, o.Margin)), cell, o)
		if m.Toll != nil {
			m.Baseline = &result.Baseline{Network: network.Baseline, Value: m.Value}
			if m.Toll.Low != nil {
				all = append(all, result.AA{
					Path: g.Path, Workload: g.Workload, Params: cell.Params, Metric: q.Name,
					Low: *m.Toll.Low, High: *m.Toll.High, Verdict: m.Toll.Verdict,
				})
			}
		}
		m.Warnings = append(m.Warnings, o.Warnings(cell)...)
		cell.Metrics = append(cell.Metrics, m)
	}
	addPooled(cell)
	addCeilings(cell, cell)
	return all
}

// centred are margins of the same width about zero: A/A is not held against where
// it lies itself.
func centred(m stats.Margins) stats.Margins {
	half := (m.AA.High - m.AA.Low) / 2
	return stats.Margins{Declared: m.Declared, AA: stats.Interval{Low: -half, High: half}}
}

// Margins are what a toll of the group is held against.
func (g *Group) Margins(q result.Quantity, declared float64) stats.Margins {
	if g.Baseline == nil {
		return stats.Margins{Declared: declared, AA: stats.Interval{Low: math.Inf(-1), High: math.Inf(1)}}
	}
	m := MarginsOf(BlocksOf(g.Baseline, q.Name), q, declared)
	if q.Name == CostName(g.Baseline) {
		m.AA = coarse(m.AA, g.Baseline)
	}
	return m
}

// toll weighs pairs. It is nil where too few blocks of the cell have a ratio, as
// with a baseline of zero.
func toll(pairs []stats.Block, q result.Quantity, margins stats.Margins, cell *result.Cell, o Options) *result.Toll {
	ratios := stats.LogRatios(pairs)
	if len(ratios) == 0 || !enough(len(ratios), cell) {
		return nil
	}
	interval, whole := stats.Toll(ratios, Direction(q))
	w := judged(interval, whole, margins)
	t := &result.Toll{Value: w.Value, Margin: finiteMargin(w.Margin), Verdict: string(w.Verdict)}
	if by, known, n := delta(pairs); n > 0 {
		t.Delta.Value = by.Value
		if known {
			t.Delta.Low, t.Delta.High = ends(by)
		}
	}
	if whole {
		t.Low, t.High = ends(interval)
	}
	if o.Last && w.Verdict == stats.Inconclusive {
		t.BlocksToSay, _ = stats.BlocksNeeded(ratios, margins, Direction(q))
	}
	return t
}
