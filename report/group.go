package report

import (
	"cmp"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// groupsOf are the groups of a result in the order of its tables, each with its
// networks in their order.
func groupsOf(res *result.Result) []*weigh.Group {
	groups := weigh.Groups(res)
	for _, g := range groups {
		slices.SortStableFunc(g.Cells, func(a, b *result.Cell) int {
			return cmp.Compare(catalog.Order(a.Network), catalog.Order(b.Network))
		})
	}
	slices.SortStableFunc(groups, func(a, b *weigh.Group) int {
		return cmp.Compare(pathOrder(a.Path), pathOrder(b.Path))
	})
	return groups
}

func pathOrder(path string) int {
	if at := slices.Index(catalog.Paths(), path); at >= 0 {
		return at
	}
	return len(catalog.Paths())
}

// section is the groups that are in one table: one, or two of workloads that
// share a table.
type section []*weigh.Group

// askedOf are the groups whose workload a plan asks for: it may have others that explain those.
// Where none of them was measured, all groups are.
func askedOf(plan result.Plan, groups []*weigh.Group) []*weigh.Group {
	asked := slices.DeleteFunc(slices.Clone(groups), func(g *weigh.Group) bool {
		return explains(plan, g.Workload)
	})
	if !slices.ContainsFunc(asked, func(g *weigh.Group) bool {
		return slices.ContainsFunc(g.Cells, func(c *result.Cell) bool { return c.Status == result.StatusOK })
	}) {
		return groups
	}
	return asked
}

// explains reports whether a plan has a workload only to explain others.
func explains(plan result.Plan, workload string) bool {
	return slices.ContainsFunc(plan.Workloads, func(w result.WorkloadPlan) bool { return w.Explains && w.Name == workload })
}

// sectionsOf puts groups of one path and lab together where they share a table.
func sectionsOf(groups []*weigh.Group) []section {
	var sections []section
	for _, g := range groups {
		partner, first := partnerOf(groups, g)
		switch {
		case partner == nil:
			sections = append(sections, section{g})
		case first:
			sections = append(sections, section{g, partner})
		}
	}
	return sections
}

// partnerOf is the group that shares a table with another, nil where there is
// none, and whether the other is the first of the two. Each must be the only one
// of its workload there.
func partnerOf(groups []*weigh.Group, g *weigh.Group) (partner *weigh.Group, first bool) {
	var same, other []*weigh.Group
	for _, candidate := range groups {
		if candidate.OfLab() != g.OfLab() {
			continue
		}
		switch {
		case candidate.Workload == g.Workload:
			same = append(same, candidate)
		case sharesTable(candidate.Workload, g.Workload), sharesTable(g.Workload, candidate.Workload):
			other = append(other, candidate)
		}
	}
	if len(same) != 1 || len(other) != 1 {
		return nil, false
	}
	return other[0], sharesTable(g.Workload, other[0].Workload)
}

// sharesTable reports whether one workload's table shows the other's too.
func sharesTable(workloadName, with string) bool {
	kind, known := catalog.FindWorkload(workloadName)
	return known && kind.TableWith != "" && kind.TableWith == with
}

// describe is a table's title: what all of its cells share. Parameters that
// never vary are in the heading of the report.
func (s section) describe(w words, groups []*weigh.Group) string {
	first := s[0]
	parts := []string{first.Path}
	for _, axis := range result.Axes() {
		if axis.Of == result.OfLab && (axis.Titled || varies(groups, axis.Name, "")) {
			if text := axisText(axis, first.Params); text != "" {
				parts = append(parts, axis.Name+" "+text)
			}
		}
	}
	var names []string
	for _, g := range s {
		names = append(names, describe(g, groups))
	}
	return w.of(w.join(parts...), strings.Join(names, w.say("and")))
}

// axisText is a parameter of an axis as people read it; empty: there is none.
func axisText(axis result.Axis, params result.Params) string {
	number := params.Number(axis.Name)
	switch {
	case axis.Of != result.OfLab || !slices.Contains([]string{"bit/s", "s", result.UnitShare}, axis.Unit):
		return params.Text(axis.Name)
	case number <= 0:
		return ""
	case axis.Unit == result.UnitShare:
		return strings.Replace(result.Percent(number), "%", " %", 1)
	}
	return scaleFor(axis.Unit, number).withUnit(number)
}

// describe names a group's workload with its mode and what distinguishes it from
// others of its kind.
func describe(g *weigh.Group, groups []*weigh.Group) string {
	var details []string
	if g.Mode != "" {
		details = append(details, g.Mode)
	}
	own := result.NamesOf(func(a result.Axis) bool { return a.Of != result.OfLab })
	slices.Sort(own)
	for _, name := range own {
		among := groups
		if axis, _ := result.AxisOf(name); name == "design" || axis.Of == result.OfTime { // how it is measured distinguishes what is on one path
			among = slices.DeleteFunc(slices.Clone(groups), func(other *weigh.Group) bool { return other.Path != g.Path })
		}
		if g.Params.Has(name) && varies(among, name, g.Workload) {
			details = append(details, name+" "+g.Params.Text(name))
		}
	}
	if len(details) == 0 {
		return g.Workload
	}
	return g.Workload + " (" + strings.Join(details, ", ") + ")"
}

// varies reports whether a parameter has several values among the groups of a
// workload, "" for all workloads.
func varies(groups []*weigh.Group, name, workload string) bool {
	values := map[string]bool{}
	for _, g := range groups {
		if workload == "" || g.Workload == workload {
			values[g.Params.Text(name)] = true
		}
	}
	return len(values) > 1
}
