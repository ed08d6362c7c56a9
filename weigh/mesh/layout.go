package mesh

import (
	"slices"

	"tare/result"
	"tare/stats"
)

// layout is which nodes are in which groups.
type layout struct {
	groups []*group
	of     []*group // by node; nil: it has no label
}

// group is the nodes with one label.
type group struct {
	name   string
	number int // place among the layout's
	nodes  int
}

func layoutOf(nodes []result.MeshNode) layout {
	l := layout{of: make([]*group, len(nodes))}
	for n, node := range nodes {
		if node.Group == "" {
			continue
		}
		at := slices.IndexFunc(l.groups, func(g *group) bool { return g.name == node.Group })
		if at < 0 {
			at = len(l.groups)
			l.groups = append(l.groups, &group{name: node.Group, number: at})
		}
		l.of[n] = l.groups[at]
		l.of[n].nodes++
	}
	return l
}

// crosses reports whether a pair is between two groups.
func (l layout) crosses(a, b int) bool { return l.of[a] != nil && l.of[b] != nil && l.of[a] != l.of[b] }

// within reports whether both nodes of a pair are in the same group.
func (l layout) within(a, b int) bool { return l.of[a] != nil && l.of[a] == l.of[b] }

// judged is the group of a node if it is large enough to be judged; else nil.
func (l layout) judged(node int) *group {
	if g := l.of[node]; g != nil && g.nodes >= leastOfGroup {
		return g
	}
	return nil
}

// judgedOf are the groups of a pair that are large enough to be judged.
func (l layout) judgedOf(o observation) (c classes) {
	for _, node := range [...]int{o.client, o.server} {
		if g := l.judged(node); g != nil {
			c = c.and(g.number)
		}
	}
	return c
}

// leastUplinks is from how many groups on each has an uplink that can be distinguished from
// what lies between two of them.
const leastUplinks = 4

// leastLevel is how many pairs give a round its level: of fewer, it would be theirs.
const leastLevel = 8

// manyGroups reports whether uplinks can be distinguished.
func (l layout) manyGroups() bool { return len(l.groups) >= leastUplinks }

// factors are what a value is made of, in the order in which each sweep takes them out. What
// several of them could explain goes to the first of those, so that the order matters:
//
//   - the level of all is the first, since the others are differences from it
//   - then groups: pairs within them alone determine them, whatever follows
//   - then what is between groups: what all pairs of groups have in common, or, of two or three
//     groups, each pair of them. After nodes, the two nodes of a small group would have taken it
//   - then rounds and nodes
//   - then, of many groups, what is left to uplinks, and at last to single pairs of groups, which
//     have to be worse than both their uplinks
func (l layout) factors(rounds int) []*factor {
	factors := []*factor{l.ofAll()}
	if len(l.groups) >= 2 {
		factors = append(factors, l.ofGroup())
	}
	switch {
	case l.manyGroups():
		factors = append(factors, l.ofBetween())
	case len(l.groups) >= 2:
		factors = append(factors, l.ofCell())
	}
	factors = append(factors, ofRounds(rounds), l.ofNode())
	if l.manyGroups() {
		factors = append(factors, l.ofUplink(), l.ofCell())
	}
	return factors
}

// ofAll is the level of all pairs. It comes from those that stay in a group, where there are
// groups of several nodes.
func (l layout) ofAll() *factor {
	f := &factor{name: ofAll, classes: 1, of: func(observation) classes { return one(0) }}
	if len(l.groups) >= 2 && l.largest() >= leastOfGroup {
		f.by = func(o observation) bool { return !l.crosses(o.client, o.server) }
	}
	return f
}

// ofGroup is how much worse the pairs within a group are than those within others. A pair
// between two groups has the part of each.
func (l layout) ofGroup() *factor {
	return &factor{
		name: ofGroup, classes: len(l.groups), least: leastPartners, of: l.judgedOf, centre: centred(together, 1, lowMedian),
		by: func(o observation) bool { return l.within(o.client, o.server) },
	}
}

// ofBetween is what all pairs between groups have in common.
func (l layout) ofBetween() *factor {
	return &factor{name: ofBetween, classes: 1, of: func(o observation) classes {
		if l.crosses(o.client, o.server) {
			return one(0)
		}
		return classes{}
	}}
}

// ofRounds is what all windows of a round have in common.
func ofRounds(rounds int) *factor {
	return &factor{
		name: ofRound, classes: rounds, least: leastLevel, of: func(o observation) classes { return one(o.round) },
		centre: centred(together, 1, stats.Median),
	}
}

// ofNode is how much worse a node is than others of its group.
func (l layout) ofNode() *factor {
	return &factor{
		name: ofNode, classes: len(l.of), least: leastPartners,
		of:     func(o observation) classes { return one(o.client).and(o.server) },
		centre: l.centreNodes,
	}
}

// ofUplink is how much worse than other pairs of groups those of one group are.
func (l layout) ofUplink() *factor {
	return &factor{
		name: ofUplink, classes: len(l.groups), least: leastPartners, centre: centred(together, 1, lowMedian),
		of: func(o observation) classes {
			if l.crosses(o.client, o.server) {
				return l.judgedOf(o)
			}
			return classes{}
		},
	}
}

// ofCell is what is between two groups, of which either may be the client's. Where uplinks are
// judged, so are pairs of groups of enough nodes alone: between two nodes it would be a link.
func (l layout) ofCell() *factor {
	return &factor{
		name: ofCell, classes: len(l.groups) * len(l.groups), least: leastRounds, centre: l.centreCells,
		of: func(o observation) classes {
			if !l.crosses(o.client, o.server) || l.manyGroups() && l.judgedOf(o).n < 2 {
				return classes{}
			}
			a, b := l.of[o.client].number, l.of[o.server].number
			return one(min(a, b)*len(l.groups) + max(a, b))
		},
	}
}

// centreNodes takes from each node the middle of its group, which is the group's, or, where
// there are no groups to be judged, that of all.
func (l layout) centreNodes(values []float64, known []bool) []float64 {
	part := func(node int) int { // 0: of those without
		if g := l.judged(node); g != nil {
			return 1 + g.number
		}
		return 0
	}
	shifts := centred(part, len(l.groups)+1, stats.Median)(values, known)
	if l.largest() >= leastOfGroup {
		for node := range shifts {
			if l.judged(node) == nil {
				shifts[node] = 0
			}
		}
	}
	return shifts
}

// largest is how many nodes the largest group has.
func (l layout) largest() (most int) {
	for _, g := range l.groups {
		most = max(most, g.nodes)
	}
	return most
}

// centreCells takes the middle from all pairs of groups, which is what pairs between groups
// have in common. Where some are not known, or where there is nothing in common, it takes
// nothing.
func (l layout) centreCells(values []float64, known []bool) []float64 {
	cells, groups := 0, 0
	for _, is := range known {
		if is {
			cells++
		}
	}
	for _, g := range l.groups {
		if g.nodes >= leastOfGroup {
			groups++
		}
	}
	if !l.manyGroups() || cells < groups*(groups-1)/2 {
		return make([]float64, len(values))
	}
	return centred(together, 1, stats.Median)(values, known)
}

// together makes all classes one part.
func together(int) int { return 0 }

// centred takes from each class the middle of those of its part.
func centred(part func(class int) int, parts int, middle func([]float64) float64) func([]float64, []bool) []float64 {
	return func(values []float64, known []bool) []float64 {
		in := make([][]float64, parts)
		for class, v := range values {
			if known[class] {
				in[part(class)] = append(in[part(class)], v)
			}
		}
		by := make([]float64, parts)
		for n := range in {
			if len(in[n]) > 0 {
				by[n] = middle(in[n])
			}
		}
		shifts := make([]float64, len(values))
		for class := range values {
			shifts[class] = by[part(class)]
		}
		return shifts
	}
}

// lowMedian is the middle of some values, or the lesser of the two in the middle: of two
// groups, the better one is the measure.
func lowMedian(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
