package weigh

import (
	"slices"

	"tare/catalog"
	"tare/result"
)

// Group is the cells that are compared with each other.
type Group struct {
	Key      string
	Path     string
	Workload string
	Mode     string
	Params   result.Params  // what its cells share: those of the baseline where it has one
	Baseline *result.Cell   // nil: it has none
	Cells    []*result.Cell // in the order of the result, including the baseline

	beside []*Group // all groups of its run, itself included
}

// Groups sorts the cells of a result into groups, in the order of their first
// cells that were measured.
func Groups(res *result.Result) []*Group {
	res.SetGroups()
	cells := make([]*result.Cell, len(res.Cells))
	for n := range res.Cells {
		cells[n] = &res.Cells[n]
	}
	return GroupsOf(cells)
}

// GroupsOf sorts cells that have their group's key.
func GroupsOf(cells []*result.Cell) []*Group {
	var groups []*Group
	for _, measured := range []bool{true, false} { // what failed joins what was measured
		for _, c := range cells {
			if (c.Status == result.StatusOK) != measured {
				continue
			}
			n := slices.IndexFunc(groups, func(g *Group) bool { return g.Key == c.Group })
			if n < 0 {
				n = len(groups)
				groups = append(groups, &Group{Key: c.Group, Path: c.Path, Workload: c.Workload, Mode: c.Mode, Params: c.Params})
			}
			groups[n].add(c)
		}
	}
	for _, g := range groups {
		g.beside = groups
	}
	return groups
}

func (g *Group) add(c *result.Cell) {
	g.Cells = append(g.Cells, c)
	if c.Network == catalog.Baseline && g.Baseline == nil {
		g.Baseline, g.Params = c, c.Params
	}
}

// Without is the group's key without the words of some axes, or of the path, the
// workload and its mode: equal texts, groups that differ in nothing else.
func (g *Group) Without(names ...string) string { return result.Without(g.Key, names...) }

// OfLab is what the group shares with those under other workloads.
func (g *Group) OfLab() string {
	return g.Without(append(result.WorkloadAxes(), result.UnderLoad, result.InMode)...)
}

// Link is the link of the group's baseline in bit/s; 0: it is as fast as the CPU.
func (g *Group) Link() result.BitsPerSecond {
	return result.BitsPerSecond(g.Params.Number("link"))
}

// OwnLink is the link of a cell if it is not that of its baseline; 0: it is.
func (g *Group) OwnLink(c *result.Cell) result.BitsPerSecond {
	if link := result.BitsPerSecond(c.Params.Number("link")); link != g.Link() {
		return link
	}
	return 0
}

// Counterpart is the cell of another network that was measured as a cell of the
// group was: with the same parameters of networks, those left out that either of
// them does not have, and on the same link where there are several; nil: there is
// none.
func (g *Group) Counterpart(c *result.Cell, other string) *result.Cell {
	if other == catalog.Baseline {
		if g.Baseline != nil && g.Baseline.Status == result.StatusOK {
			return g.Baseline
		}
		return nil
	}
	var best *result.Cell
	least := 0
	for _, candidate := range g.Cells {
		if candidate.Network != other || candidate.Status != result.StatusOK {
			continue
		}
		unlike, agree := settingsApart(c, candidate)
		if g.OwnLink(candidate) != g.OwnLink(c) {
			unlike++
		}
		if agree && (best == nil || unlike < least) {
			best, least = candidate, unlike
		}
	}
	return best
}

// settingsApart counts the networks' own parameters that only one of two cells
// has, and reports whether they agree in all others.
func settingsApart(a, b *result.Cell) (unlike int, agree bool) {
	own, other := a.Params.Settings().Map(), b.Params.Settings().Map()
	for name, value := range own {
		theirs, both := other[name]
		switch {
		case !both:
			unlike++
		case theirs != value:
			return 0, false
		}
	}
	for name := range other {
		if _, both := own[name]; !both {
			unlike++
		}
	}
	return unlike, true
}

// Of is the group that a cell of a result belongs to.
func Of(groups []*Group, c *result.Cell) *Group {
	n := slices.IndexFunc(groups, func(g *Group) bool { return g.Key == c.Group })
	if n < 0 {
		return &Group{Key: c.Group}
	}
	return groups[n]
}

// Same is the cell of another run of the same plan, which differs in some axes;
// nil: it has none.
func Same(res *result.Result, c *result.Cell, but ...string) *result.Cell {
	key := cellKey(c, but...)
	res.SetGroups()
	n := slices.IndexFunc(res.Cells, func(other result.Cell) bool {
		return other.Status == result.StatusOK && cellKey(&other, but...) == key
	})
	if n < 0 {
		return nil
	}
	return &res.Cells[n]
}

// cellKey identifies a cell in its result: its group, its network and the network's
// own parameters. The words of some axes are left out.
func cellKey(c *result.Cell, without ...string) string {
	own := string(c.Params.Settings())
	if link := c.Params.Text("link"); link != "" {
		own += " link=" + link
	}
	return c.Network + " " + own + " in " + result.Without(c.Group, without...)
}
