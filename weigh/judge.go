package weigh

import (
	"math"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// Weighing is by how much one quantity is worse than another, as a ratio.
type Weighing struct {
	stats.Interval
	Whole   bool // whether the interval is one of 95 %
	Verdict stats.Verdict
	Margin  float64 // from which a difference counts: the widest of the groups that it comes from

	unsteady bool // the baselines of a group differ
}

// judged gives a difference its verdict: the only place where one is made, but for those among many
// (family). The margins are those of the groups that it comes from, two if the compared cells were
// measured in different groups; a difference must count in each. Each adds its part of what
// layouts differ by.
func judged(e stats.Estimate, whole bool, q result.Quantity, margins ...Margins) Weighing {
	m := joined(margins)
	if whole {
		for _, one := range margins {
			e = e.And(one.Layout.Times(1 / float64(len(margins))))
		}
	}
	w := Weighing{Interval: e.Toll(Direction(q), intervalRate), Whole: whole, Verdict: stats.Inconclusive, Margin: m.Least, unsteady: m.Unsteady}
	if whole && len(margins) > 0 {
		w.Verdict = stats.Judge(w.Interval, m.Margins)
	}
	return w
}

// joined are the margins that exceed each of several.
func joined(margins []Margins) (m Margins) {
	for n, one := range margins {
		if n == 0 {
			m = one
			continue
		}
		m.Declared, m.Least, m.Unsteady = min(m.Declared, one.Declared), max(m.Least, one.Least), m.Unsteady || one.Unsteady
	}
	return m
}

// Trusted reports whether the interval can be used: it is one, and lies beyond
// what the baselines differ by, where they do.
func (w Weighing) Trusted() bool { return w.Whole && !(w.unsteady && w.Verdict == stats.Inconclusive) }

// Change is the weighing as a file holds it; nil: nothing was weighed.
func (w Weighing) Change() *result.Change {
	if math.IsNaN(w.Value) {
		return nil
	}
	c := &result.Change{Value: w.Value, Verdict: string(w.Verdict), Margin: w.Margin}
	if w.Whole {
		c.Low, c.High = ends(w.Interval)
	}
	return c
}

// Against is by how much some blocks are worse than others: by pairs where both
// were measured in the same blocks of one run, else without.
func Against(of, than Blocks, paired bool, q result.Quantity, margins ...Margins) Weighing {
	if paired {
		e, whole := stats.Centre(stats.LogRatios(Pairs(of, than)))
		return judged(e, whole, q, margins...)
	}
	e, whole := stats.CentreShift(than.logs(), of.logs())
	return judged(e, whole, q, margins...)
}

// familyRate is how often a run whose networks are all equal may call one another than its host. Each chance is
// one-sided, which doubles that; it is one at the margin, where no network is that equals its host, which
// more than halves it again.
const familyRate = 0.05

// family is the tolls of a run that are looked at together: those by which its networks are judged first,
// or those on one other quantity. Of so many, some intervals miss. What is called slower or faster in a
// run is false in one of twenty at most (Benjamini and Hochberg, 1995).
type family struct {
	chances map[string][]float64
	rates   map[string]float64
}

// families are those of the tolls of some groups.
func (w weighing) families(groups []*Group) family {
	f := family{map[string][]float64{}, map[string]float64{}}
	for _, g := range groups {
		if g.Baseline == nil {
			continue
		}
		for _, cell := range g.Cells {
			if cell == g.Baseline {
				continue
			}
			for _, q := range w.quantities(cell) {
				at := w.scale.of(g, q)
				if toll := at.tolls[cell]; toll.whole {
					name := familyOf(cell, q)
					f.chances[name] = append(f.chances[name], toll.Chance(at.margins.Least))
				}
			}
		}
	}
	for name, chances := range f.chances {
		f.rates[name] = stats.FalseRate(chances, familyRate)
	}
	return f
}

// familyOf names the family of a cell's quantity.
func familyOf(cell *result.Cell, q result.Quantity) string {
	if kind, _ := catalog.FindWorkload(cell.Workload); kind.Headline == q.Name {
		return "headline"
	}
	return q.Name
}

// judge is judged for a toll among others. rate is that of the interval that would have counted;
// byChance: its own interval lies beyond the margin, but so does one of so many by chance.
func (f family) judge(toll estimated, cell *result.Cell, q result.Quantity, m Margins) (w Weighing, rate float64, byChance bool) {
	w = judged(toll.Estimate, toll.whole, q, Margins{Margins: m.Margins, Unsteady: m.Unsteady})
	rate = intervalRate
	if w.Verdict == stats.Slower || w.Verdict == stats.Faster {
		limit := f.rates[familyOf(cell, q)]
		if byChance = toll.Chance(m.Least) > limit; byChance {
			w.Verdict = stats.Inconclusive
			rate = min(rate, 2*max(limit, familyRate/float64(len(f.chances[familyOf(cell, q)]))))
		}
	}
	return w, rate, byChance
}

// Direction is which way a quantity is better.
func Direction(q result.Quantity) stats.Direction {
	if q.Better == result.Lower {
		return stats.LowerIsBetter
	}
	return stats.HigherIsBetter
}

// ends gives an interval's ends where it has any.
func ends(i stats.Interval) (low, high *float64) {
	if math.IsInf(i.Low, 0) || math.IsInf(i.High, 0) || math.IsNaN(i.Low) || math.IsNaN(i.High) {
		return nil, nil
	}
	return &i.Low, &i.High
}
