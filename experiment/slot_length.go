package experiment

import (
	"time"

	"tare/network"
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

// lengthen doubles the slots of a group where those of a block that was measured were
// too short, and reports whether it did. What was measured with them is forgotten, and
// measured again.
func (r *runner) lengthen(n int, arms []*arm) bool {
	t := r.turns[n]
	t.measured++
	if t.measured > tuning || t.slot >= mostSlot || !biased(arms) {
		return false
	}
	t.slot = min(2*t.slot, mostSlot)
	t.again += t.measured
	t.measured = 0
	for _, a := range arms {
		r.cells[keyOf(a.group, a.place)].Samples = nil
	}
	return true
}

// biased reports whether the slots of some network were too short for its toll.
func biased(arms []*arm) bool {
	var baselines []result.Sample
	for _, a := range arms {
		if a.err == nil && a.place.network.Name == network.Baseline {
			baselines = append(baselines, a.sample)
		}
	}
	for _, a := range arms {
		if a.err == nil && a.place.network.Name != network.Baseline && len(baselines) > 0 && weigh.Biased(a.sample, baselines...) {
			return true
		}
	}
	return false
}
