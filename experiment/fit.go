package experiment

import (
	"fmt"
	"slices"

	"tare/catalog"
	"tare/experiment/schedule"
	"tare/result"
	"tare/weigh"
	"tare/workload"
)

// What makes slots useless to a cell: of so many runs and slots, most slots are lost, and few of the baseline's. A
// sender that is stopped for longer than a slot loses them so; a busy machine loses them of all.
const (
	leastRuns    = 2
	leastSlots   = 8
	mostLost     = 0.5
	baselineLost = 0.25
)

// tuned are the slots that each cell had in its group's first blocks, with those of runs that failed.
type tuned map[*result.Cell]*struct{ runs, slots, lost int }

// add adds the slots of a run; nil: it gave none.
func (t tuned) add(cell *result.Cell, taken *result.Slots, headline string) {
	if taken == nil {
		return
	}
	if t[cell] == nil {
		t[cell] = new(struct{ runs, slots, lost int })
	}
	t[cell].runs++
	for _, v := range taken.Values[headline] {
		t[cell].slots++
		if v <= 0 {
			t[cell].lost++
		}
	}
}

// lost is the share of a cell's slots that were late, or in which nothing came; 0 as well where it had few.
func (t tuned) lost(cell *result.Cell) float64 {
	if t[cell] == nil || t[cell].runs < leastRuns || t[cell].slots < leastSlots {
		return 0
	}
	return float64(t[cell].lost) / float64(t[cell].slots)
}

// useless is the first of a group's cells to which slots are useless; nil: there is none.
func (t tuned) useless(cells []*result.Cell) *result.Cell {
	for _, cell := range cells {
		if cell.Network == catalog.Baseline && t.lost(cell) > baselineLost {
			return nil
		}
	}
	n := slices.IndexFunc(cells, func(c *result.Cell) bool { return c.Network != catalog.Baseline && t.lost(c) > mostLost })
	if n < 0 {
		return nil
	}
	return cells[n]
}

// fit makes slots longer that are too short for a group, and has it measured in windows from now on where they are
// useless: what was measured of it so far does not count.
func (r *runner) fit(group int) {
	var useless *result.Cell
	again := r.recorder.numbered(r.schedule.Turned(group, func(cells []int) schedule.Fit {
		all := r.recorder.numbered(cells)
		if useless = r.tuned.useless(all); useless != nil {
			return schedule.Useless
		}
		if weigh.TooShort(all) {
			return schedule.TooShort
		}
		return schedule.Fits
	}))
	r.recorder.forget(again)
	for _, cell := range again {
		delete(r.tuned, cell)
	}
	if useless == nil {
		return
	}
	r.recorder.warn(fmt.Sprintf("in-windows: %s on %s: in most slots nothing came over %s, so that all of it is measured in windows", useless.Workload, useless.Path, useless.Network))
	for _, cell := range again {
		delete(cell.Params, "design")
		cell.Params["duration"] = windowed(runOf(r.plan, r.groups[group].workload)).Duration.Seconds()
	}
}

// windowed is a run of a plan of slots in a window.
func windowed(run workload.Run) workload.Run {
	run.Duration, run.Warmup = max(run.Duration, unhurriedWindow.Duration()), max(run.Warmup, schedule.LeastWarmup.Duration())
	return run
}
