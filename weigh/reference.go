package weigh

import (
	"tare/result"
	"tare/stats"
)

// References hold the cells of a result, on each workload's headline and the metrics beside it,
// against those of the same network on another path. They are not judged: two paths differ
// by what they are, and no A/A says what of that is chance.
func References(res *result.Result, path string) []result.Reference {
	groups := Groups(res)
	all := []result.Reference{}
	for _, g := range groups {
		for _, c := range g.Cells {
			on := referenceOf(groups, g, c, path)
			if on == nil {
				continue
			}
			for _, q := range quantitiesOf(c) {
				ratios := stats.LogRatios(Pairs(BlocksOf(c, q.Name), BlocksOf(on, q.Name)))
				if len(ratios) == 0 {
					continue
				}
				interval, whole := stats.Toll(ratios, Direction(q))
				r := result.Reference{Network: c.Network, Path: c.Path, Against: path, Workload: c.Workload, Params: c.Params, Metric: q.Name, Value: interval.Value}
				if whole {
					r.Low, r.High = ends(interval)
				}
				all = append(all, r)
			}
		}
	}
	return all
}

// referenceOf is the cell of the same network on the path that is the reference; nil: there is
// none, or it is that cell.
func referenceOf(groups []*Group, g *Group, c *result.Cell, path string) *result.Cell {
	if c.Path == path || c.Status != result.StatusOK {
		return nil
	}
	for _, other := range groups {
		if other.Path != path || other.Without(result.OnPath) != g.Without(result.OnPath) {
			continue
		}
		if on := other.Counterpart(c, c.Network); on != nil {
			return on
		}
	}
	return nil
}
