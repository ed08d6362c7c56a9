package mesh

import (
	"slices"

	"tare/result"
	"tare/stats"
)

// layout is which nodes are in which groups.
type layout struct {
	groups []string // names
	of     []int    // by node; -1: it has no label
	size   []int    // nodes of a group
}

func layoutOf(nodes []result.MeshNode) layout {
	l := layout{of: make([]int, len(nodes))}
	for n, node := range nodes {
		at := slices.Index(l.groups, node.Group)
		switch {
		case node.Group == "":
			l.of[n] = -1
			continue
		case at < 0:
			at = len(l.groups)
			l.groups, l.size = append(l.groups, node.Group), append(l.size, 0)
		}
		l.of[n] = at
		l.size[at]++
	}
	return l
}

// crosses reports whether a pair is between two groups.
func (l layout) crosses(a, b int) bool { return l.of[a] >= 0 && l.of[b] >= 0 && l.of[a] != l.of[b] }

// within reports whether both nodes of a pair are in the same group.
func (l layout) within(a, b int) bool { return l.of[a] >= 0 && l.of[a] == l.of[b] }

// judged is the group of a node if it is large enough to be judged; -1: it has none.
func (l layout) judged(node int) int {
	if g := l.of[node]; g >= 0 && l.size[g] >= leastOfGroup {
		return g
	}
	return -1
}

// leastUplinks is from how many groups on each has an uplink that can be distinguished from
// what lies between two of them.
const leastUplinks = 4

// leastLevel is how many pairs give a round its level: of fewer, it would be theirs.
const leastLevel = 8

// cell numbers the pairs of groups.
func (l layout) cell(a, b int) int {
	return min(l.of[a], l.of[b])*len(l.groups) + max(l.of[a], l.of[b])
}

// factors are what a value is made of. Of two or three groups, each pair is held against the
// pairs within groups; of more, what all pairs between groups have in common comes first, then
// each uplink, then what is left of a pair of groups.
func (l layout) factors(rounds int) []*factor {
	crosses := func(o observation) bool { return l.crosses(o.client, o.server) }
	one := func(holds func(observation) bool) func(observation) (int, int) {
		return func(o observation) (int, int) {
			if holds(o) {
				return 0, -1
			}
			return -1, -1
		}
	}
	all := func(int) int { return 0 }
	factors := []*factor{{
		name: ofAll, classes: 1,
		of: func(observation) (int, int) { return 0, -1 },
		by: l.base(),
	}}
	if len(l.groups) >= 2 { // first, since the pairs within groups alone determine it
		factors = append(factors, &factor{
			name: ofGroup, classes: len(l.groups), least: leastPartners,
			of:     func(o observation) (int, int) { return l.judged(o.client), l.judged(o.server) },
			by:     func(o observation) bool { return l.within(o.client, o.server) },
			centre: centred(all, 1, lowMedian),
		})
	}
	cells := &factor{
		name: ofCell, classes: len(l.groups) * len(l.groups), least: leastRounds, of: l.ofCells, centre: l.centreCells,
	}
	switch n := len(l.groups); {
	case n >= leastUplinks:
		factors = append(factors, &factor{name: ofBetween, classes: 1, of: one(crosses)})
	case n >= 2: // before nodes, or the two nodes of a small group would take what is between groups
		factors = append(factors, cells)
	}
	factors = append(factors,
		&factor{
			name: ofRound, classes: rounds, least: leastLevel, of: func(o observation) (int, int) { return o.round, -1 },
			centre: centred(all, 1, stats.Median),
		},
		&factor{
			name: ofNode, classes: len(l.of), least: leastPartners,
			of:     func(o observation) (int, int) { return o.client, o.server },
			centre: l.centreNodes,
		})
	if len(l.groups) >= leastUplinks {
		factors = append(factors, &factor{
			name: ofUplink, classes: len(l.groups), least: leastPartners,
			of: func(o observation) (int, int) {
				if crosses(o) {
					return l.judged(o.client), l.judged(o.server)
				}
				return -1, -1
			},
			centre: centred(all, 1, lowMedian),
		}, cells)
	}
	return factors
}

// centreNodes takes from each node the middle of its group, which is the group's, or, where
// there are no groups to be judged, that of all.
func (l layout) centreNodes(values []float64, known []bool) []float64 {
	part := func(node int) int { return l.judged(node) + 1 }
	shifts := centred(part, len(l.groups)+1, stats.Median)(values, known)
	if l.largest() >= leastOfGroup {
		for node := range shifts {
			if l.judged(node) < 0 {
				shifts[node] = 0
			}
		}
	}
	return shifts
}

// largest is how many nodes the largest group has.
func (l layout) largest() int { return slices.Max(append([]int{0}, l.size...)) }

// ofCells is the pair of groups that an observation is between. Where uplinks are judged, so
// are pairs of groups of enough nodes alone: between two nodes it would be a link.
func (l layout) ofCells(o observation) (int, int) {
	small := l.judged(o.client) < 0 || l.judged(o.server) < 0
	if !l.crosses(o.client, o.server) || small && len(l.groups) >= leastUplinks {
		return -1, -1
	}
	return l.cell(o.client, o.server), -1
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
	for _, size := range l.size {
		if size >= leastOfGroup {
			groups++
		}
	}
	if len(l.groups) < leastUplinks || cells < groups*(groups-1)/2 {
		return make([]float64, len(values))
	}
	return centred(func(int) int { return 0 }, 1, stats.Median)(values, known)
}

// base is which pairs the level of all comes from: those that stay in a group, where there are
// groups of several nodes.
func (l layout) base() func(observation) bool {
	if len(l.groups) < 2 || l.largest() < leastOfGroup {
		return nil
	}
	return func(o observation) bool { return !l.crosses(o.client, o.server) }
}

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
