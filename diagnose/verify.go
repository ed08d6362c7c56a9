package diagnose

import (
	"tare/result"
	"tare/weigh"
)

// doubted is what remains of the confidence in a cause whose fix gave nothing
// back.
const doubted = 0.5

// Verify writes into the cells of a result that have a finding what its fix gave
// back, as the same cells show that were measured with the fix in place; axes are
// those that the fix changed. A fix that gave nothing back lowers the confidence
// in its cause.
func Verify(before, after *result.Result, verified result.Finding, axes ...string) {
	before.SetGroups()
	for n := range before.Cells {
		cell := &before.Cells[n]
		for i := range cell.Findings {
			f := &cell.Findings[i]
			if f.ID != verified.ID || f.Cause != verified.Cause {
				continue
			}
			var better bool
			f.Verified, better = gaveBack(cell, sameCell(after, cell, axes))
			if f.Verified != nil && !better {
				f.Confidence *= doubted
			}
		}
		Rank(cell.Findings)
	}
}

// sameCell is a cell of another run of the same plan but for some axes; nil: it
// has none.
func sameCell(res *result.Result, cell *result.Cell, but []string) *result.Cell {
	again := weigh.Same(res, cell, but...)
	if again == nil || again.Fidelity != cell.Fidelity {
		return nil
	}
	return again
}

// gaveBack compares a cell before and after a fix, and reports whether it is better
// by more than its intervals. A cell that failed before and is measured now has
// recovered all of it.
func gaveBack(before, after *result.Cell) (*result.Verified, bool) {
	if before.Status == result.StatusFailed {
		if after == nil {
			return &result.Verified{}, false
		}
		return &result.Verified{Recovered: 1}, true
	}
	if after == nil {
		return nil, false // there is nothing to compare
	}
	m, tolls := tolling(before)
	if !tolls {
		return nil, false
	}
	now := weigh.Metric(after, m.Name)
	if now == nil || now.Toll == nil {
		return nil, false
	}
	v := &result.Verified{Metric: m.Name, Before: &m.Toll.Value, After: &now.Toll.Value}
	if m.Toll.Value > 0 {
		v.Recovered = max(0, min(1, 1-now.Toll.Value/m.Toll.Value))
	}
	apart := now.Toll.Value < m.Toll.Value
	if m.Toll.Low != nil && now.Toll.High != nil {
		apart = *now.Toll.High < *m.Toll.Low
	}
	return v, apart
}

// tolling is the metric of a cell that shows its fault: the first that is slower,
// else its headline.
func tolling(cell *result.Cell) (result.Metric, bool) {
	if m, slow := slower(cell); slow {
		return m, true
	}
	return result.First(cell.Metrics, func(m result.Metric) bool { return m.Toll != nil })
}
