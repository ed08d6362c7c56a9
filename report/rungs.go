package report

import (
	"slices"

	"tare/network"
	"tare/result"
)

// ladder is what each network of a group adds to the one that it is built
// upon, on one path.
type ladder struct {
	words
	path      string
	loads     []*load
	twin      string  // the same two ends without the published port, "" for other paths
	twins     []*load // the loads on that path, nil where there is none
	headlines []string
	rungs     map[rungKey]*rung
}

// rungKey is a measured network: on the ladder's own path or on its twin.
type rungKey struct {
	network string
	twin    bool
}

// rung is one network on the ladder.
type rung struct {
	key      rungKey
	as       string // the network whose part it plays, "" for its own
	cells    []*result.Cell
	parent   *rung // nil for the baseline
	children []*rung
}

// twinPath is the path between the same two ends without the published port.
func twinPath(path string) string {
	switch path {
	case network.PublishedPort:
		return network.HostToContainer
	case network.ContainerToPublishedPort:
		return network.CrossHost
	}
	return ""
}

// newLadder builds the ladder of a group; all are the loads of the result. The
// root is nil where the baseline was not measured.
func newLadder(w words, g group, all []*load) (l *ladder, root *rung) {
	l = &ladder{words: w, path: g.loads[0].key.path, loads: g.loads, rungs: map[rungKey]*rung{}}
	l.twin = twinPath(l.path)
	for _, own := range g.loads {
		l.headlines = append(l.headlines, headline(own))
		key := own.key
		key.path = l.twin
		var twin *load
		if at := slices.IndexFunc(all, func(other *load) bool { return other.key == key }); at >= 0 && l.twin != "" {
			twin = all[at]
		}
		l.twins = append(l.twins, twin)
	}
	if !l.measured(rungKey{network: network.Baseline}) {
		return l, nil
	}
	for _, r := range rowsOf(g.loads) {
		if key := (rungKey{network: r.network}); l.measured(key) {
			l.add(key)
		}
	}
	return l, l.rungs[rungKey{network: network.Baseline}]
}

// cells are the cells of a network that hold samples, by load.
func (l *ladder) cells(key rungKey) []*result.Cell {
	loads := l.loads
	if key.twin {
		loads = l.twins
	}
	cells := make([]*result.Cell, len(loads))
	for slot, from := range loads {
		if from == nil {
			continue
		}
		for _, c := range from.cells {
			if cells[slot] == nil && c.Network == key.network && from.ownLink(c) == "" &&
				len(perBlock(c, l.headlines[slot])) > 0 {
				cells[slot] = c
			}
		}
	}
	return cells
}

func (l *ladder) measured(key rungKey) bool {
	return slices.ContainsFunc(l.cells(key), func(c *result.Cell) bool { return c != nil })
}

// add hangs a network, and whatever it hangs on, on the ladder.
func (l *ladder) add(key rungKey) *rung {
	if r := l.rungs[key]; r != nil {
		return r
	}
	r := &rung{key: key, cells: l.cells(key)}
	l.rungs[key] = r
	if key.network == network.Baseline {
		return r
	}
	below, as := l.below(key)
	r.parent = l.add(below)
	r.parent.children = append(r.parent.children, r)
	if as != below.network {
		r.parent.as = as
	}
	return r
}

// below finds what a network hangs on: the nearest of its ancestors that was
// measured, in the end the baseline. Where the ancestor does not serve the
// path, the network that lays the same parts between hosts stands for it. as
// is the ancestor's name.
func (l *ladder) below(key rungKey) (below rungKey, as string) {
	for as = parentOf(key.network); as != network.Baseline; as = parentOf(as) {
		ancestor, _ := network.Find(as)
		for _, twin := range []bool{false, true} {
			path := l.path
			if twin {
				path = l.twin
			}
			candidates := []rungKey{{as, twin}}
			if ancestor.Across != "" && !ancestor.Serves(path) {
				candidates = append(candidates, rungKey{ancestor.Across, twin})
			}
			for _, c := range candidates {
				if c != key && l.measured(c) {
					return c, as
				}
			}
		}
	}
	return rungKey{network: network.Baseline}, network.Baseline
}

// parentOf is a network's parent; one that is not known stands on the
// baseline.
func parentOf(name string) string {
	if n, ok := network.Find(name); ok && n.Parent != "" {
		return n.Parent
	}
	return network.Baseline
}

// label is how the rung is called: "bridge (as route, host-to-container)".
func (l *ladder) label(r *rung) string {
	name, details := clip(clean(r.key.network), 24), []string{}
	if r.as != "" {
		name, details = r.as, []string{l.say("rung_as", "name", name)}
	}
	if r.key.twin {
		details = append(details, l.twin)
	}
	if len(details) > 0 {
		name += l.aside(l.join(details...))
	}
	return name
}

// perBlock are the values of a metric by block: two where the baseline stands
// twice in it.
func perBlock(c *result.Cell, metric string) map[int][]float64 {
	if c.Status != result.StatusOK {
		return nil
	}
	values := map[int][]float64{}
	for _, s := range c.Samples {
		if v, ok := s.Metrics[metric]; ok {
			values[s.Block] = append(values[s.Block], v)
		}
	}
	return values
}
