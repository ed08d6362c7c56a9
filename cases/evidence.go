package cases

import (
	"math"
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// evidence is what was measured, by experiment.
type evidence map[string]*result.Result

// cell finds the cell of a spot; nil: there is none.
func (e evidence) cell(s spot) *result.Cell {
	res := e[s.experiment]
	if res == nil {
		return nil
	}
	for n := range res.Cells {
		c := &res.Cells[n]
		if c.Network != s.network || c.Path != s.path || c.Workload != s.workload {
			continue
		}
		if s.link > 0 && result.BitsPerSecond(c.Params.Number("link")) != s.link {
			continue
		}
		if has(c.Params, s.params) {
			return c
		}
	}
	return nil
}

// has reports whether a cell was measured with the given parameters of its network.
func has(params result.Params, asked result.Settings) bool {
	for name, value := range asked.Map() {
		if params.Text(name) != value {
			return false
		}
	}
	return true
}

// lacks is why nothing was measured at a spot; empty: it was.
func (e evidence) lacks(s spot) string {
	c := e.cell(s)
	switch {
	case c == nil:
		if res := e[s.experiment]; res != nil {
			for _, skipped := range res.Plan.Skipped {
				if skipped.Name == s.network {
					return s.network + " is not here: " + skipped.Reason
				}
			}
		}
		return s.network + " was not measured on " + s.path
	case c.Status != result.StatusOK:
		return s.network + " " + c.Status + ": " + c.Reason
	case len(e.values(s)) == 0:
		return "no block of " + s.network + " has a " + s.metric
	}
	return ""
}

// standIn reports whether the spot's network was a stand-in: another data path than
// the real one.
func (e evidence) standIn(s spot) bool {
	c := e.cell(s)
	return c != nil && c.Fidelity == catalog.StandIn
}

// values are those of a spot by block.
func (e evidence) values(s spot) weigh.Blocks {
	c := e.cell(s)
	if c == nil || c.Status != result.StatusOK {
		return nil
	}
	return s.blocks(c)
}

// blocks are the values of the spot's quantity in a cell.
func (s spot) blocks(c *result.Cell) weigh.Blocks {
	return weigh.BlocksBy(c, func(sample result.Sample) (float64, bool) { return valueOf(sample, s) })
}

// margins are what a difference at a spot is held against: the two baselines of
// its own group.
func (e evidence) margins(s spot, q result.Quantity) weigh.Margins {
	var baseline weigh.Blocks
	if c := e.cell(s); c != nil {
		if g := weigh.Of(weigh.Groups(e[s.experiment]), c); g.Baseline != nil {
			baseline = s.blocks(g.Baseline)
		}
	}
	return weigh.MarginsOf(baseline, q, stats.DeclaredMargin)
}

func valueOf(sample result.Sample, s spot) (float64, bool) {
	if s.size == 0 {
		v, known := sample.Metrics[s.metric]
		return v, known
	}
	// A sweep has round trips of the smaller sizes only: the first of its series.
	at, series := slices.Index(sample.Series["size"], float64(s.size)), sample.Series[s.metric]
	if at < 0 || at >= len(series) {
		return 0, false
	}
	return series[at], true
}

// metric is that of a spot's cell; nil: it has none, or the spot is one size of a
// sweep.
func (e evidence) metric(s spot) *result.Metric {
	c := e.cell(s)
	if c == nil || c.Status != result.StatusOK || s.size > 0 {
		return nil
	}
	return weigh.Metric(c, s.metric)
}

// value is what the blocks amount to; NaN: nothing was measured.
func (e evidence) value(s spot) float64 {
	if m := e.metric(s); m != nil {
		return m.Value
	}
	at, measured := e.values(s).Value()
	if !measured {
		return math.NaN()
	}
	return at.Value
}

// weigh weighs one spot against another: block by block where both were measured
// in the blocks of one experiment, else without pairs. The margins are those of
// both spots' groups.
func (e evidence) weigh(s, than spot) weigh.Weighing {
	q, known := result.QuantityOf(s.metric)
	if !known {
		q = result.Quantity{Name: s.metric, Better: result.Higher}
	}
	return weigh.Against(e.values(s), e.values(than), s.experiment == than.experiment, q, e.margins(s, q), e.margins(than, q))
}
