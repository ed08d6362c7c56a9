package weigh

import (
	"cmp"
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// Rank ranks the networks of a result that meet what its plan asks of them, on each
// path under each workload.
func Rank(res *result.Result) []result.Ranking {
	var rankings []result.Ranking
	for _, g := range Groups(res) {
		if r := g.Rank(res.Plan.Needs, res.Plan.Margin); len(r.Ranked)+len(r.Unranked) > 0 {
			rankings = append(rankings, r)
		}
	}
	return rankings
}

// Rank ranks the networks of a group that meet some demands, by their tolls: a
// network opens a new place where it is worse than the first of the one before by
// more than the margin, in the blocks that both were measured in. A stand-in has no
// place, nor has what an emulated CPU measured, and nothing has one without a baseline.
func (g *Group) Rank(demands []string, margin float64) result.Ranking {
	r := result.Ranking{
		Path: g.Path, Workload: g.Workload, Mode: g.Mode, Params: g.Params,
		Ranked: []result.Ranked{}, Unranked: []result.Unqualified{},
	}
	if g.Baseline == nil || g.Baseline.Status != result.StatusOK {
		return r
	}
	var list []*result.Cell
	for _, cell := range g.Cells {
		if cell.Network == catalog.Baseline {
			continue
		}
		if reason := unqualified(cell, demands); reason != "" {
			r.Unranked = append(r.Unranked, result.Unqualified{Network: cell.Network, Reason: reason})
			continue
		}
		list = append(list, cell)
	}
	r.Metric = rankedBy(g.Baseline)
	r.Ranked = g.places(list, r.Metric, margin)
	return r
}

// unqualified is why a cell has no place; empty: it has one.
func unqualified(cell *result.Cell, demands []string) string {
	n, known := catalog.FindNetwork(cell.Network)
	lacks, meets := n.Meets(demands)
	switch {
	case cell.Status != result.StatusOK:
		return cell.Status + ": " + cell.Reason
	case known && !meets:
		return "does not meet " + lacks
	case cell.Fidelity == catalog.StandIn:
		return "a stand-in here, whose toll is not the real one's"
	case cell.Emulated():
		return "measured on an emulated CPU, whose time is not a machine's"
	}
	return ""
}

// rankedBy is the metric by which the networks of a group are ranked: that of its
// workload, else the first that networks are judged by.
func rankedBy(base *result.Cell) string {
	if m := Headline(base); m != nil && result.Judged(m.Name) {
		return m.Name
	}
	for _, m := range base.Metrics {
		if result.Judged(m.Name) {
			return m.Name
		}
	}
	return ""
}

// places ranks cells by their toll on a metric.
func (g *Group) places(list []*result.Cell, name string, declared float64) []result.Ranked {
	scale := ScaleOf(g.beside, cmp.Or(declared, stats.DeclaredMargin))
	type weighed struct {
		cell   *result.Cell
		metric result.Metric
	}
	var all []weighed
	for _, cell := range list {
		if m := Metric(cell, name); m != nil && m.Toll != nil {
			all = append(all, weighed{cell, *m})
		}
	}
	slices.SortStableFunc(all, func(a, b weighed) int { return cmp.Compare(a.metric.Toll.Value, b.metric.Toll.Value) })
	ranked := []result.Ranked{}
	place, first := 1, 0 // of the place that is being filled
	for n, w := range all {
		r := result.Ranked{Place: place, Network: w.cell.Network, Params: w.cell.Params.Settings(), Toll: *w.metric.Toll}
		if n > 0 {
			r.Behind, r.Than = g.behind(w.cell, all[first].cell, quantityOf(w.metric), scale), all[first].cell.Network
			if r.Behind != nil && r.Behind.Verdict == string(stats.Slower) {
				place, first = place+1, n
				r.Place = place
			}
		}
		ranked = append(ranked, r)
	}
	return ranked
}

// behind is by how much one cell is worse than another, in the blocks of both.
func (g *Group) behind(cell, than *result.Cell, q result.Quantity, scale *Scale) *result.Change {
	return Against(BlocksOf(cell, q.Name), BlocksOf(than, q.Name), true, q, scale.Margins(g, q)).Change()
}
