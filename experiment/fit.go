package experiment

import (
	"fmt"

	"tare/catalog"
	"tare/experiment/schedule"
	"tare/probe"
	"tare/result"
	"tare/weigh"
	"tare/workload"
)

// What makes slots useless to a cell: of so many slots many are lost, in several runs, and few of the baseline's. A
// sender that is stopped for longer than a slot loses them so; a busy machine loses them of all.
const (
	badRuns      = 2
	leastSlots   = 12
	manyLost     = 0.5
	baselineLost = 0.1
)

// tuned is what is known of the slots that each cell had in its group's first blocks, with those of runs that failed.
type tuned map[*result.Cell]*had

// had are the slots of a cell.
type had struct {
	slots, lost int
	bad         int  // runs that lost many
	quota       bool // an end has so much CPU time in a period, and saves it while its slots rest
}

// add adds the slots of a run, if it gave some.
func (t tuned) add(cell *result.Cell, s result.Sample, headline string) {
	if s.Slots == nil {
		return
	}
	if t[cell] == nil {
		t[cell] = new(had)
	}
	h, values := t[cell], s.Slots.Values[headline]
	lost := 0
	for _, v := range values {
		if v <= 0 {
			lost++
		}
	}
	h.slots, h.lost = h.slots+len(values), h.lost+lost
	if float64(lost) > manyLost*float64(len(values)) {
		h.bad++
	}
	for _, r := range s.Readings {
		h.quota = h.quota || r.Source == probe.QuotaSource && r.Counts["periods"] > 0
	}
}

// lostShare is the share of slots that were late, or in which nothing came; 0 as well where there were few.
func (h *had) lostShare() float64 {
	if h == nil || h.slots < leastSlots {
		return 0
	}
	return float64(h.lost) / float64(h.slots)
}

// useless is why slots are useless to a group; empty: they are not.
func (t tuned) useless(cells []*result.Cell) string {
	var baseline had
	lost := 0.0
	for _, cell := range cells {
		if h := t[cell]; h != nil && cell.Network == catalog.Baseline {
			baseline.quota = baseline.quota || h.quota
			lost = max(lost, h.lostShare())
		}
	}
	for _, cell := range cells {
		switch h := t[cell]; {
		case h == nil || cell.Network == catalog.Baseline:
		case h.quota && !baseline.quota:
			return "the CPU quota of " + cell.Network + "'s containers refills while its slots rest"
		case h.bad >= badRuns && h.lostShare() > manyLost && lost < baselineLost:
			return "nothing came over " + cell.Network + " in many slots"
		}
	}
	return ""
}

// fit makes slots longer that are too short for a group, and has it measured in windows from now on where they are
// useless: what was measured of it so far does not count.
func (r *runner) fit(group int) {
	why := ""
	again := r.recorder.numbered(r.schedule.Turned(group, func(cells []int) schedule.Fit {
		all := r.recorder.numbered(cells)
		if why = r.tuned.useless(all); why != "" {
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
	if why == "" {
		return
	}
	g := r.groups[group]
	r.recorder.warn(fmt.Sprintf("in-windows: %s on %s: %s, so that all of it is measured in windows", g.workload.Name, g.path, why))
	for _, cell := range again {
		delete(cell.Params, "design")
		cell.Params["duration"] = windowed(runOf(r.plan, g.workload)).Duration.Seconds()
	}
}

// windowed is a run of a plan of slots in a window.
func windowed(run workload.Run) workload.Run {
	run.Duration, run.Warmup = max(run.Duration, unhurriedWindow.Duration()), max(run.Warmup, schedule.LeastWarmup.Duration())
	return run
}
