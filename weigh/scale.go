package weigh

import (
	"math"

	"tare/result"
	"tare/stats"
)

// intervalRate is how often an interval misses what it is of.
const intervalRate = 0.05

// Margins are what a difference of a quantity in a group is held against.
type Margins struct {
	stats.Margins
	// Layout is by how much one baseline of the run differs from another, in log, because of where
	// they lie.
	Layout stats.Variance
	// Unsteady: the two baselines of the group differ beyond what others of the run do, and by more than
	// the margin. Then a difference must exceed theirs.
	Unsteady bool
}

// declared are margins of baselines against each other, which are not held against where they lie
// themselves.
func (m Margins) declared() Margins {
	m.Least = m.Declared
	return m
}

// MarginsOf are those of blocks of a baseline by itself, in a run of which nothing else is known.
func MarginsOf(baseline Blocks, q result.Quantity, declared float64) Margins {
	aa, whole := stats.Centre(stats.LogRatios(baseline.AA()))
	return marginsOf(aaOf{aa, whole}, nil, q, declared)
}

// aaOf is one baseline of a group against the other.
type aaOf struct {
	stats.Estimate
	whole bool
}

// marginsOf are the margins of a group, from its own A/A comparison and those of the other groups.
func marginsOf(own aaOf, others []stats.Estimate, q result.Quantity, declared float64) Margins {
	m := Margins{Margins: stats.Margins{Declared: declared, Least: declared}, Layout: stats.Layout(others)}
	if !own.whole {
		return m
	}
	aa := own.And(m.Layout).Toll(Direction(q), intervalRate)
	apart := max(math.Abs(aa.Low), math.Abs(aa.High))
	if m.Unsteady = (aa.Low > 0 || aa.High < 0) && apart > declared; m.Unsteady {
		m.Least = apart
		return m
	}
	m.Layout = stats.Layout(append(others, own.Estimate))
	return m
}

// Scale is what the differences of a run are held against, quantity by quantity. All A/A comparisons
// of a quantity say together what layouts differ by; all networks of a group say together how much
// their blocks vary.
type Scale struct {
	declared float64
	groups   []*Group
	again    map[string][]aaOf // of each group, by quantity
	scaled   map[scaledKey]*scaled
}

type scaledKey struct {
	group    *Group
	quantity string
}

// scaled are the margins of a quantity in a group, and the tolls of its cells.
type scaled struct {
	margins Margins
	tolls   map[*result.Cell]estimated
}

// estimated is a cell against its baseline.
type estimated struct {
	stats.Estimate
	whole  bool
	ratios []float64
}

// ScaleOf is the scale of the groups of one run.
func ScaleOf(groups []*Group, declared float64) *Scale {
	return &Scale{declared: declared, groups: groups, again: map[string][]aaOf{}, scaled: map[scaledKey]*scaled{}}
}

// Margins are what a difference of a quantity is held against in a group.
func (s *Scale) Margins(g *Group, q result.Quantity) Margins {
	if known := s.scaled[scaledKey{g, q.Name}]; known != nil {
		return known.margins
	}
	return s.marginsOf(g, q) // without the tolls, which not everybody asks for
}

func (s *Scale) of(g *Group, q result.Quantity) *scaled {
	key := scaledKey{g, q.Name}
	if s.scaled[key] == nil {
		s.scaled[key] = &scaled{s.marginsOf(g, q), nil}
		s.scaled[key].tolls = s.tollsOf(g, q, s.scaled[key].margins.Layout.Times(stats.TollLayouts))
	}
	return s.scaled[key]
}

// marginsOf are the margins of a group among those of the run.
func (s *Scale) marginsOf(g *Group, q result.Quantity) Margins {
	if s.again[q.Name] == nil {
		s.again[q.Name] = make([]aaOf, len(s.groups))
		for n, other := range s.groups {
			s.again[q.Name][n] = other.aa(q)
		}
	}
	own, others := aaOf{}, []stats.Estimate(nil)
	for n, a := range s.again[q.Name] {
		switch {
		case s.groups[n] == g:
			own = a
		case a.whole:
			others = append(others, a.Estimate)
		}
	}
	m := marginsOf(own, others, q, s.declared)
	if g.Baseline != nil && q.Name == CostName(g.Baseline) {
		m.Least = max(m.Least, tick(g.Baseline))
	}
	return m
}

// aa is one baseline of the group against the other.
func (g *Group) aa(q result.Quantity) aaOf {
	if g.Baseline == nil {
		return aaOf{}
	}
	aa, whole := stats.Centre(stats.LogRatios(BlocksOf(g.Baseline, q.Name).AA()))
	return aaOf{aa, whole}
}

// tollsOf are the tolls of a group's cells: how much the blocks of each vary is known from all of them.
func (s *Scale) tollsOf(g *Group, q result.Quantity, layout stats.Variance) map[*result.Cell]estimated {
	tolls := map[*result.Cell]estimated{}
	if g.Baseline == nil {
		return tolls
	}
	base := BlocksOf(g.Baseline, q.Name)
	var spreads []stats.Variance
	for _, c := range g.Cells {
		if c == g.Baseline {
			continue
		}
		one := estimated{ratios: stats.LogRatios(Pairs(BlocksOf(c, q.Name), base))}
		if one.Estimate, one.whole = stats.Centre(one.ratios); one.whole {
			spreads = append(spreads, one.Uncertain[0].Times(float64(len(one.ratios))))
		}
		tolls[c] = one
	}
	common := stats.SpreadsOf(spreads)
	for c, one := range tolls {
		if one.whole {
			n := float64(len(one.ratios))
			one.Uncertain = []stats.Variance{common.Moderate(one.Uncertain[0].Times(n)).Times(1 / n), layout}
			tolls[c] = one
		}
	}
	return tolls
}
