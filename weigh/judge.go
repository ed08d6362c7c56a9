package weigh

import (
	"math"

	"tare/result"
	"tare/stats"
)

// Weighing is by how much one quantity is worse than another, as a ratio.
type Weighing struct {
	stats.Interval
	Whole   bool // whether the interval is one of 95 %
	Verdict stats.Verdict
	Margin  float64 // the margin used: the widest of the groups that it comes from; +Inf where none is known
	Least   float64 // from which a difference counts: the margin used, or what baselines differ by

	unsteady bool // the baselines of a group differ
}

// judged gives a difference its verdict: the only place where one is made. The
// margins are those of the groups that it comes from, two if the compared cells were
// measured in different groups; a difference must count in each.
func judged(toll stats.Interval, whole bool, margins ...stats.Margins) Weighing {
	w := Weighing{Interval: toll, Whole: whole, Verdict: stats.Inconclusive}
	for n, m := range margins {
		w.Margin, w.Least, w.unsteady = math.Max(w.Margin, m.Used()), math.Max(w.Least, least(m)), w.unsteady || Unsteady(m)
		if v := verdict(toll, m); n == 0 || v == w.Verdict {
			w.Verdict = v
		} else {
			w.Verdict = stats.Inconclusive
		}
	}
	if !whole {
		w.Verdict = stats.Inconclusive
	}
	return w
}

// verdict is that of stats, but where the two baselines themselves differ a
// network must differ by more than they do: half the width of their interval
// does not include how far they are apart.
func verdict(toll stats.Interval, m stats.Margins) stats.Verdict {
	v := stats.Judge(toll, m)
	if !Unsteady(m) || v == stats.Equal {
		return v
	}
	if from := least(m); toll.Low > from || toll.High < -from {
		return v
	}
	return stats.Inconclusive
}

// least is the difference from which one counts.
func least(m stats.Margins) float64 {
	if Unsteady(m) {
		return math.Max(m.Used(), apart(m))
	}
	return m.Used()
}

// apart is how far the two baselines of a group may differ.
func apart(m stats.Margins) float64 { return math.Max(math.Abs(m.AA.Low), math.Abs(m.AA.High)) }

// Unsteady reports whether the two baselines of a group differ: the A/A interval
// leaves zero out and reaches past the declared margin.
func Unsteady(m stats.Margins) bool {
	differ := m.AA.Low > 0 || m.AA.High < 0
	return differ && !math.IsInf(apart(m), 0) && apart(m) > m.Declared
}

// Trusted reports whether the interval can be used: it is one, and lies beyond
// what the baselines differ by, where they do.
func (w Weighing) Trusted() bool { return w.Whole && !(w.unsteady && w.Verdict == stats.Inconclusive) }

// Change is the weighing as a file holds it; nil: nothing was weighed.
func (w Weighing) Change() *result.Change {
	if math.IsNaN(w.Value) {
		return nil
	}
	c := &result.Change{Value: w.Value, Verdict: string(w.Verdict), Margin: finiteMargin(w.Margin)}
	if w.Whole {
		c.Low, c.High = ends(w.Interval)
	}
	return c
}

// finiteMargin is the margin used, or 1 where no A/A interval exists: no
// difference counts then.
func finiteMargin(used float64) float64 {
	if !math.IsInf(used, 0) && !math.IsNaN(used) {
		return used
	}
	return 1
}

// MarginsOf are what a toll is held against where the two baselines measured
// these blocks. Without an interval nothing counts.
func MarginsOf(baseline Blocks, q result.Quantity, declared float64) stats.Margins {
	m := stats.Margins{Declared: declared, AA: stats.Interval{Low: math.Inf(-1), High: math.Inf(1)}}
	if aa, whole := stats.Toll(stats.LogRatios(baseline.AA()), Direction(q)); whole {
		m.AA = aa
	}
	return m
}

// Against is by how much some blocks are worse than others: by pairs where both
// were measured in the same blocks of one run, else without.
func Against(of, than Blocks, paired bool, q result.Quantity, margins ...stats.Margins) Weighing {
	if paired {
		interval, whole := stats.Toll(stats.LogRatios(Pairs(of, than)), Direction(q))
		return judged(interval, whole, margins...)
	}
	interval, whole := stats.Change(than.logs(), of.logs(), Direction(q))
	return judged(interval, whole, margins...)
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
