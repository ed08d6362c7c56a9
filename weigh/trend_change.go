package weigh

import (
	"cmp"
	"math"
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// together is how many results apart two changes may be that are taken for one.
const together = 1

// changes finds when series change, and what else is otherwise since.
func (s *trending) changes() error {
	finder := stats.ChangeFinder{}
	var chances []float64
	for _, one := range s.all {
		chances = append(chances, finder.Chance(one.logs))
	}
	rate := stats.FalseRate(chances, trendRate)
	var steps []step
	for n, one := range s.all {
		if rate == 0 || chances[n] > rate {
			continue
		}
		found := finder.Find(one.logs, rate)
		for at := range found {
			steps = append(steps, s.step(one, found, at))
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.At, b.At) })
	for len(steps) > 0 {
		n := 1
		for n < len(steps) && steps[n].At-steps[0].At <= together {
			n++
		}
		c, err := s.changeOf(steps[:n])
		if err != nil {
			return err
		}
		s.t.Changes = append(s.t.Changes, c)
		steps = steps[n:]
	}
	return nil
}

// step is a change of one series, and the points that it is seen on.
type step struct {
	result.TrendStep
	host          bool
	newest        *result.Cell
	before, after []int
}

// step is one of the changes that were found in a series: between those next to it.
func (s *trending) step(one course, found []stats.ChangePoint, n int) step {
	from, to := 0, len(one.logs)
	if n > 0 {
		from = found[n-1].At
	}
	if n+1 < len(found) {
		to = found[n+1].At
	}
	at, cell := found[n].At, s.t.Cells[one.cell]
	q := result.Quantity{Name: cell.Metric, Unit: cell.Unit, Better: cell.Better}
	shift, whole := stats.CentreShift(one.logs[from:at], one.logs[at:to])
	// What baselines differ by is the same before and after: only the declared margin counts.
	w := judged(shift, whole, q, Margins{Margins: stats.Margins{Declared: one.margin, Least: one.margin}})
	st := step{newest: one.newest, host: cell.Network == catalog.Baseline, before: one.at[from:at], after: one.at[at:to]}
	st.TrendStep = result.TrendStep{
		Cell: cell.Network + " " + cell.Path + " " + cell.Workload, Metric: cell.Metric, Of: one.of, At: one.at[at],
		Change: *w.Change(), Chance: found[n].Chance,
	}
	return st
}

// changeOf is one change of several series.
func (s *trending) changeOf(steps []step) (result.TrendChange, error) {
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(math.Abs(b.Change.Value), math.Abs(a.Change.Value)) })
	clearest := slices.MinFunc(steps, func(a, b step) int { return cmp.Compare(a.Chance, b.Chance) })
	c := result.TrendChange{
		At: clearest.At, Before: s.points[clearest.before[len(clearest.before)-1]].res.Started, After: s.points[clearest.At].res.Started,
		Series: []result.TrendStep{}, Beside: []result.TrendBeside{}, Unread: []string{},
	}
	host := func(one step) bool { return one.host }
	switch hosts := slices.ContainsFunc(steps, host); {
	case !hosts:
		c.Of = result.ChangeOfNetwork
	case slices.ContainsFunc(steps, func(one step) bool { return !host(one) }):
		c.Of = result.ChangeOfBoth
	default:
		c.Of = result.ChangeOfMachine
	}
	for _, one := range steps {
		c.Series = append(c.Series, one.TrendStep)
	}
	err := s.beside(&c, clearest)
	return c, err
}
