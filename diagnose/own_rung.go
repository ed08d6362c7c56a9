package diagnose

import (
	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// ownRung is the share of the toll that the network adds to the one below it on the ladder of
// its group, by the blocks of both: the same numbers as the report's ladder has. Parts may go
// another way down, by the same network on another interface.
func (e *Evidence) ownRung() (share weigh.Part, known bool) {
	m, slow := slower(e.Cell)
	if !slow || m.Toll.Value == 0 {
		return weigh.Part{}, false
	}
	ladder := weigh.NewLadder([]*weigh.Group{weigh.Of(e.groups, e.Cell)}, []string{m.Name}, e.groups)
	rung := ladder.Rung(weigh.RungKey{Network: e.Network, Settings: e.Cell.Params.Settings()})
	if rung == nil || rung.Parent == nil || rung.Cells[0] != e.Cell {
		return weigh.Part{}, false
	}
	step, paired := ladder.Step(rung, 0)
	of, measured := perToll(m, ladder.Quantity(0), rung.Parent.Cells[0])
	if !paired || !measured {
		return weigh.Part{}, false
	}
	share = weigh.Part{Cell: e.Cell, Below: rung.Parent.Cells[0], Share: stats.Interval{Value: of * step.Value}, Whole: step.Whole}
	if share.Whole {
		share.Share.Low, share.Share.High = of*step.Low, of*step.High
	}
	return share, true
}

// perToll is by what the step above a cell is multiplied to be a share of a toll: a time is a
// part of the difference in time; a ratio is of the value below, and the toll of the baseline's.
func perToll(m result.Metric, q result.Quantity, below *result.Cell) (factor float64, known bool) {
	if q.Unit == "s" {
		return 1 / m.Toll.Delta.Value, m.Toll.Delta.Value > 0
	}
	toll := 0.0
	if below.Network != catalog.Baseline {
		of := weigh.Metric(below, m.Name)
		if of == nil || of.Toll == nil {
			return 0, false
		}
		toll = of.Toll.Value
	}
	if weigh.Direction(q) == stats.HigherIsBetter {
		toll = -toll
	}
	return (1 + toll) / m.Toll.Value, true
}

// mostOfRung is the limit of a rule that names what the network itself does: it can't be more
// than what the network adds to the one below it.
func mostOfRung(e *Evidence) (most float64, known bool) {
	rung, known := e.ownRung()
	if !known || !rung.Whole {
		return rung.Share.Value, known
	}
	return rung.Share.High, true
}
