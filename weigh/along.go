package weigh

import (
	"fmt"
	"maps"
	"strconv"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// ipAxis is the axis of the version of IP.
const ipAxis = "ip"

// Comparisons compare cells of a result with each other, by the same blocks, and in slots by the
// same cycles: along the version of IP, where a plan has both, and along a passenger and a
// neighbour, where some networks have one and are there without it too; along whatever the plan
// says besides, which may be an axis or a parameter of networks; with the plan's baseline, where it
// is not the host; and with the path that is its reference.
func Comparisons(res *result.Result) []result.Comparison {
	all := []result.Comparison{}
	res.SetGroups()
	lines := []string{ipAxis, catalog.With, catalog.Neighbour}
	for _, by := range res.Plan.By {
		lines = result.AddOnce(lines, by)
	}
	for _, by := range lines {
		all = append(all, along(res, lineOf(by))...)
	}
	if network := res.Plan.Baseline; network != "" && network != catalog.Baseline {
		all = append(all, onNetworks(res, network)...)
	}
	if path := res.Plan.Reference; path != "" {
		all = append(all, onPaths(res, path)...)
	}
	return all
}

// line is what cells are compared along.
type line struct {
	by string
	// value is where on it a cell is; empty: it is without.
	value func(*result.Cell) string
	// key is the same for cells that differ in nothing else.
	key func(*result.Cell) string
	// common reports whether the cells of a key were measured in the same cycles of slots.
	common bool
}

// lineOf is along an axis, or along a parameter of networks.
func lineOf(by string) line {
	axis, is := result.AxisOf(by)
	if !is {
		return line{
			by:    by,
			value: func(c *result.Cell) string { return c.Params.Settings().Map()[by] },
			key: func(c *result.Cell) string {
				return c.Network + " " + string(c.Params.Settings().With(by, "")) + " in " + c.Group
			},
			common: true,
		}
	}
	return line{
		by: by,
		value: func(c *result.Cell) string {
			if c.Params.Has(by) {
				return c.Params.Text(by)
			}
			return result.Text(axis.Absent)
		},
		key:    func(c *result.Cell) string { return cellKey(c, by) },
		common: axis.Of == result.OfLab,
	}
}

// along compares cells that differ in where they are on a line alone: with the one that does not name it,
// or else with the first that was measured. There is a comparison for each two values.
func along(res *result.Result, on line) []result.Comparison {
	axis, _ := result.AxisOf(on.by)
	absent := result.Text(axis.Absent)
	first := map[string]*result.Cell{} // by key: what the others are compared with
	for n := range res.Cells {
		c := &res.Cells[n]
		if c.Status != result.StatusOK {
			continue
		}
		if was := first[on.key(c)]; was == nil || on.value(was) != absent && on.value(c) == absent {
			first[on.key(c)] = c
		}
	}
	type sides struct{ of, than string }
	var pairs []sides
	for n := range res.Cells {
		c := &res.Cells[n]
		if was := first[on.key(c)]; was != nil && c.Status == result.StatusOK && on.value(c) != on.value(was) {
			pairs = result.AddOnce(pairs, sides{on.value(c), on.value(was)})
		}
	}
	var all []result.Comparison
	side := sideOf(res)
	for _, pair := range pairs {
		c := draftOf(res, side, on.by, sideText(on.by, pair.of), sideText(on.by, pair.than))
		c.pairing.apart = !on.common
		all = append(all, c.with(func(cell *result.Cell) *result.Cell {
			if was := first[on.key(cell)]; was != nil && on.value(cell) == pair.of && on.value(was) == pair.than {
				return was
			}
			return nil
		})...)
	}
	return all
}

// sideText is a value as the side of a comparison.
func sideText(by, value string) string {
	axis, _ := result.AxisOf(by)
	switch {
	case by == ipAxis:
		return "IPv" + value
	case value == "":
		return "without"
	}
	if number, err := strconv.ParseFloat(value, 64); err == nil && axis.Unit != "" {
		return axis.Written(number)
	}
	return value
}

// onNetworks compares every network of a result but the host with one of them, in each group.
func onNetworks(res *result.Result, network string) []result.Comparison {
	groups := Groups(res)
	c := draftOf(res, sideOf(res), result.AlongNetwork, result.Each, network)
	return c.with(func(cell *result.Cell) *result.Cell {
		if cell.Network == network || cell.Network == catalog.Baseline {
			return nil
		}
		return Of(groups, cell).Counterpart(cell, network)
	})
}

// onPaths compares cells with those of the same network on a path. They are not judged.
func onPaths(res *result.Result, path string) []result.Comparison {
	groups := Groups(res)
	c := draftOf(res, sideOf(res), result.AlongPath, result.Each, path)
	c.Judged, c.pairing.unjudged = result.JudgedByNothing, true
	return c.with(func(cell *result.Cell) *result.Cell {
		own := Of(groups, cell)
		if cell.Path == path || own == nil {
			return nil
		}
		for _, other := range groups {
			if other.Path == path && other.Without(result.OnPath) == own.Without(result.OnPath) {
				if on := other.Counterpart(cell, cell.Network); on != nil {
					return on
				}
			}
		}
		return nil
	})
}

// draft is a comparison of cells of one result that is being made.
type draft struct {
	result.Comparison
	res     *result.Result
	pairing pairing
}

// draftOf is one without cells.
func draftOf(res *result.Result, side compareSide, by, of, than string) *draft {
	c := &draft{res: res, pairing: pairing{old: side, recent: side, paired: true}}
	c.Comparison = blank(by, of, than)
	c.Paired = true
	return c
}

// blank is a comparison of nothing yet.
func blank(by, of, than string) result.Comparison {
	return result.Comparison{
		Title: fmt.Sprintf("%s: %s against %s", by, of, than), Along: by, Of: of, Than: than, Judged: result.JudgedByValue,
		Differ: []result.Difference{}, Cells: []result.ComparedCell{}, Single: []result.SingleCell{}, Held: []result.Held{}, Unmet: []result.Unmet{},
	}
}

// with compares each cell with the one that than gives for it; nil: it has none.
func (c *draft) with(than func(*result.Cell) *result.Cell) []result.Comparison {
	for n := range c.res.Cells {
		cell := &c.res.Cells[n]
		if cell.Status != result.StatusOK {
			continue
		}
		if was := than(cell); was != nil {
			compared := c.pairing.compare(was, cell)
			if c.Along == result.AlongNetwork || c.Along == result.AlongPath {
				compared.Params = maps.Clone(cell.Params)
			} else {
				compared.Params = maps.Clone(was.Params)
			}
			delete(compared.Params, c.Along)
			c.Cells = append(c.Cells, compared)
		}
	}
	if len(c.Cells) == 0 {
		return nil
	}
	switch {
	case c.pairing.unjudged:
		judge(c.Cells, "")
	case c.res.Environment.Emulated():
		judge(c.Cells, stats.Inconclusive)
	}
	return []result.Comparison{c.Comparison}
}

// Kernels compares what a plan measured on another kernel with what it measured on the first,
// block by block: their machines took turns. A difference is held against what the first
// machine and its twin, which has the same kernel, differ by. Of emulated CPUs none is judged.
// of and than are the kernels' releases.
func Kernels(first, twin, other *result.Result, of, than string) result.Comparison {
	c := blank("kernel", of, than)
	c.Paired, c.Differ = true, machines(first, other)
	p := pairing{old: sideOf(first), recent: sideOf(other), paired: true, apart: true, twins: map[*result.Cell]*result.Cell{}}
	for cell, before := range matches(first, twin) {
		p.twins[before] = cell
	}
	matched := matches(first, other)
	c.Cells = p.all(other, matched)
	c.Single = single(first, other, matched)
	if first.Environment.Emulated() {
		judge(c.Cells, stats.Inconclusive)
	}
	return c
}

// judge gives all changes one verdict.
func judge(cells []result.ComparedCell, verdict stats.Verdict) {
	for _, cell := range cells {
		for n := range cell.Metrics {
			m := &cell.Metrics[n]
			for _, change := range []*result.Change{m.Change, m.TollChange, m.Again} {
				if change != nil {
					change.Verdict = string(verdict)
				}
			}
		}
	}
}
