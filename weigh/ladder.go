package weigh

import (
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// Ladder is what each network of some groups adds to its parent, on one path.
type Ladder struct {
	Path    string
	Twin    string   // the same two ends without the published port; empty for other paths
	Groups  []*Group // on the path, under several workloads
	Metrics []string // that the rungs are measured by, one for each group
	Root    *Rung    // the baseline; nil: it was not measured
	twins   []*Group // the groups on the twin path; nil where there is none
	rungs   map[RungKey]*Rung
}

// RungKey is a measured network: on the ladder's own path or on its twin.
type RungKey struct {
	Network  string
	Settings result.Settings // its own parameters
	Twin     bool
}

// Rung is one network on a ladder.
type Rung struct {
	Key      RungKey
	As       string         // the network that it represents here; empty: itself
	Cells    []*result.Cell // one for each group, nil where there is none
	Parent   *Rung          // nil for the baseline
	Children []*Rung
}

// NewLadder builds the ladder of groups on one path; all are those of the result,
// and metrics what each of the groups is judged by.
func NewLadder(groups []*Group, metrics []string, all []*Group) *Ladder {
	l := &Ladder{Path: groups[0].Path, Groups: groups, Metrics: metrics, Twin: catalog.Unpublished(groups[0].Path), rungs: map[RungKey]*Rung{}}
	for _, own := range groups {
		var twin *Group
		elsewhere := own.Without(result.OnPath)
		if at := slices.IndexFunc(all, func(other *Group) bool { return other.Path == l.Twin && other.Without(result.OnPath) == elsewhere }); at >= 0 && l.Twin != "" {
			twin = all[at]
		}
		l.twins = append(l.twins, twin)
	}
	baseline := RungKey{Network: catalog.Baseline}
	if !l.measured(baseline) {
		return l
	}
	for _, name := range networksIn(groups) {
		for _, g := range groups {
			for _, c := range g.Cells {
				if key := (RungKey{Network: c.Network, Settings: c.Params.Settings()}); c.Network == name && l.measured(key) {
					l.add(key)
				}
			}
		}
	}
	l.Root = l.rungs[baseline]
	return l
}

// networksIn names the networks of groups in the order of the tables.
func networksIn(groups []*Group) []string {
	var names []string
	for _, g := range groups {
		for _, c := range g.Cells {
			names = result.AddOnce(names, c.Network)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return catalog.Order(a) - catalog.Order(b) })
	return names
}

// Rung finds a rung; nil: there is none.
func (l *Ladder) Rung(key RungKey) *Rung { return l.rungs[key] }

// cells are the cells of a network that hold samples, one for each group.
func (l *Ladder) cells(key RungKey) []*result.Cell {
	groups := l.Groups
	if key.Twin {
		groups = l.twins
	}
	cells := make([]*result.Cell, len(groups))
	for slot, g := range groups {
		if g == nil {
			continue
		}
		for _, c := range g.Cells {
			if cells[slot] == nil && c.Status == result.StatusOK && c.Network == key.Network && c.Params.Settings() == key.Settings &&
				g.OwnLink(c) == 0 && len(BlocksOf(c, l.Metrics[slot])) > 0 {
				cells[slot] = c
			}
		}
	}
	return cells
}

func (l *Ladder) measured(key RungKey) bool {
	return slices.ContainsFunc(l.cells(key), func(c *result.Cell) bool { return c != nil })
}

// add puts a network and its ancestors on the ladder.
func (l *Ladder) add(key RungKey) *Rung {
	if r := l.rungs[key]; r != nil {
		return r
	}
	r := &Rung{Key: key, Cells: l.cells(key)}
	l.rungs[key] = r
	if key.Network == catalog.Baseline {
		return r
	}
	below, as := l.below(r)
	r.Parent = l.add(below)
	r.Parent.Children = append(r.Parent.Children, r)
	if as != below.Network {
		r.Parent.As = as
	}
	return r
}

// below finds the rung below a network: the nearest of its ancestors that was
// measured, in the end the baseline. Where the ancestor does not serve the path,
// the network that sets up the same parts between hosts takes its place. as is the
// ancestor's name.
func (l *Ladder) below(r *Rung) (below RungKey, as string) {
	for as = parentOf(r.Key.Network); as != catalog.Baseline; as = parentOf(as) {
		ancestor, _ := catalog.FindNetwork(as)
		for _, twin := range []bool{false, true} {
			path := l.Path
			if twin {
				path = l.Twin
			}
			candidates := []string{as}
			if ancestor.Across != "" && !ancestor.Serves(path) {
				candidates = append(candidates, ancestor.Across)
			}
			for _, name := range candidates {
				if key, found := l.counterpart(r, name, twin); found && key != r.Key {
					return key, as
				}
			}
		}
	}
	return RungKey{Network: catalog.Baseline}, catalog.Baseline
}

// counterpart is the rung of another network that was measured as one was.
func (l *Ladder) counterpart(r *Rung, name string, twin bool) (key RungKey, found bool) {
	groups := l.Groups
	if twin {
		groups = l.twins
	}
	for slot, g := range groups {
		if g == nil || r.Cells[slot] == nil {
			continue
		}
		if c := g.Counterpart(r.Cells[slot], name); c != nil {
			key = RungKey{Network: name, Settings: c.Params.Settings(), Twin: twin}
			return key, l.measured(key)
		}
	}
	return key, false
}

// parentOf is a network's parent; that of an unknown network is the baseline.
func parentOf(name string) string {
	if n, ok := catalog.FindNetwork(name); ok && n.Parent != "" {
		return n.Parent
	}
	return catalog.Baseline
}

// Step is what a rung adds to the one below it.
type Step struct {
	stats.Interval      // seconds where the metric is a time, else a toll
	Whole          bool // whether its ends are known
	Pairs          int  // blocks that hold both rungs
	Blocks         int  // blocks that hold the upper one
}

// Step compares a rung with the one below it, block by block: a time by its
// difference, all else by its toll. ok is false where no block holds both.
func (l *Ladder) Step(r *Rung, slot int) (s Step, ok bool) {
	if r.Parent == nil || r.Cells[slot] == nil || r.Parent.Cells[slot] == nil {
		return Step{}, false
	}
	metric := l.Metrics[slot]
	upper := BlocksOf(r.Cells[slot], metric)
	var pairs []stats.Block
	for _, p := range Pairs(upper, BlocksOf(r.Parent.Cells[slot], metric)) {
		if _, has := p.LogRatio(); has {
			pairs = append(pairs, p)
		}
	}
	s.Pairs, s.Blocks = len(pairs), len(upper)
	q, m := l.Quantity(slot), Metric(r.Cells[slot], metric)
	switch first := r.Parent.Cells[slot].Network == catalog.Baseline && m != nil && m.Toll != nil; {
	case q.Unit == "s":
		s.Interval, s.Whole, _ = delta(pairs)
	case first && m.Toll.Low != nil: // what is added to the baseline is the toll
		s.Interval, s.Whole = stats.Interval{Value: m.Toll.Value, Low: *m.Toll.Low, High: *m.Toll.High}, true
	default:
		g := l.Groups[slot]
		e, whole := stats.Centre(stats.LogRatios(pairs))
		w := judged(e, whole, q, ScaleOf(g.beside, stats.DeclaredMargin).Margins(g, q))
		s.Interval, s.Whole = w.Interval, w.Whole
	}
	return s, s.Pairs > 0
}

// Quantity is the unit and direction of a group's metric.
func (l *Ladder) Quantity(slot int) result.Quantity {
	for _, c := range l.Groups[slot].Cells {
		if m := Metric(c, l.Metrics[slot]); m != nil {
			return quantityOf(*m)
		}
	}
	q, _ := result.QuantityOf(l.Metrics[slot])
	return q
}

// TallerThanOne reports whether any rung has another parent than the baseline.
func (r *Rung) TallerThanOne() bool {
	return slices.ContainsFunc(r.Children, func(child *Rung) bool { return len(child.Children) > 0 })
}
