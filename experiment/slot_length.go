package experiment

import (
	"slices"
	"time"

	"tare/result"
	"tare/weigh"
	"tare/workload"
)

const (
	// mostSlot is the longest slot: beyond it noise changes between those of a cycle.
	mostSlot = 40 * time.Millisecond
	// tuning is in how many of a group's blocks its slots may be found too short.
	tuning = 3
)

// turns is how a group takes turns.
type turns struct {
	slot     time.Duration
	measured int // blocks, with slots of this length
	again    int // blocks that are to be measured once more, since their slots were too short
}

// slotOf is how long the slots of a group are: at first as short as its workload can
// do with.
func (r *runner) slotOf(n int) time.Duration {
	if r.turns[n] == nil {
		kind, _ := workload.Find(r.groups[n].workload.Name)
		r.turns[n] = &turns{slot: kind.Slot}
	}
	return r.turns[n].slot
}

// lengthen doubles the slots of a group where those of its first blocks were too short,
// and reports whether it did. What was measured with them is forgotten, and measured
// again.
func (r *runner) lengthen(n int) bool {
	t := r.turns[n]
	t.measured++
	var cells []*result.Cell
	for own, g := range r.groups {
		if r.leader(own) != n {
			continue
		}
		for _, p := range g.places {
			if cell := r.cells[keyOf(own, p)]; !slices.Contains(cells, cell) { // a baseline has two places
				cells = append(cells, cell)
			}
		}
	}
	if t.measured > tuning || t.slot >= mostSlot || !weigh.TooShort(cells) {
		return false
	}
	t.slot = min(2*t.slot, mostSlot)
	t.again += t.measured
	t.measured = 0
	for _, cell := range cells {
		cell.Samples = nil
		delete(r.missed, cell)
	}
	return true
}
