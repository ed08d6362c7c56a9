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
	if res := e[s.Experiment]; res != nil {
		if at := slices.IndexFunc(res.Cells, s.isIn); at >= 0 {
			return &res.Cells[at]
		}
	}
	return nil
}

// isIn reports whether a cell is that of the spot.
func (s spot) isIn(c result.Cell) bool {
	for name, value := range s.Params.Map() {
		if c.Params.Text(name) != value {
			return false
		}
	}
	return c.Network == s.Network && c.Path == s.Path && c.Workload == s.Workload && (s.Link == 0 || result.BitsPerSecond(c.Params.Number("link")) == s.Link)
}

// lacks is why nothing was measured at a spot; empty: it was.
func (e evidence) lacks(s spot) string {
	c := e.cell(s)
	switch {
	case c == nil:
		if res := e[s.Experiment]; res != nil {
			if left, out := result.First(res.Plan.Skipped, func(n result.SkippedNetwork) bool { return n.Name == s.Network }); out {
				return s.Network + " is not here: " + left.Reason
			}
		}
		return s.Network + " was not measured on " + s.Path
	case c.Status != result.StatusOK:
		return s.Network + " " + c.Status + ": " + c.Reason
	case len(e.values(s)) == 0:
		return "no block of " + s.Network + " has a " + s.Metric
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
	if c := e.cell(s); c != nil && c.Status == result.StatusOK {
		return s.blocks(c)
	}
	return nil
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
		if g := weigh.Of(weigh.Groups(e[s.Experiment]), c); g.Baseline != nil {
			baseline = s.blocks(g.Baseline)
		}
	}
	return weigh.MarginsOf(baseline, q, stats.DeclaredMargin)
}

func valueOf(sample result.Sample, s spot) (float64, bool) {
	if s.Size == 0 {
		v, known := sample.Metrics[s.Metric]
		return v, known
	}
	// A sweep has round trips of the smaller sizes only: the first of its series.
	at, series := slices.Index(sample.Series["size"], float64(s.Size)), sample.Series[s.Metric]
	if at < 0 || at >= len(series) {
		return 0, false
	}
	return series[at], true
}

// metric is that of a spot's cell; nil: it has none, or the spot is one size of a
// sweep.
func (e evidence) metric(s spot) *result.Metric {
	if c := e.cell(s); c != nil && c.Status == result.StatusOK && s.Size == 0 {
		return weigh.Metric(c, s.Metric)
	}
	return nil
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
	q, _ := result.QuantityOf(s.Metric)
	return weigh.Against(e.values(s), e.values(than), s.Experiment == than.Experiment, q, e.margins(s, q), e.margins(than, q))
}

// toll weighs a spot against its host.
func (e evidence) toll(s spot) weigh.Weighing { return e.weigh(s, s.host()) }
