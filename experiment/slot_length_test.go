package experiment

import (
	"testing"
	"time"

	"tare/network"
	"tare/result"
	"tare/test/labtest"
)

// armsOf are a network and both baselines, whose second halves have these ratios to
// all of each slot.
func armsOf(r *runner, ratio float64) []*arm {
	var arms []*arm
	for n, layout := range []string{"", "a", "b"} {
		name, later := network.Baseline, 1.0
		if layout == "" {
			name, later = "vxlan", ratio
		}
		a := &arm{visit: visit{0, place{network: network.Network{Name: name}, layout: layout}}}
		a.sample.Slots = &result.Slots{Later: map[string][]float64{"throughput": {}}}
		for cycle := range 10 {
			a.sample.Slots.Later["throughput"] = append(a.sample.Slots.Later["throughput"], later+0.001*float64((cycle+n)%3))
		}
		if r.cells[keyOf(0, a.place)] == nil {
			r.cells[keyOf(0, a.place)] = &result.Cell{}
		}
		r.cells[keyOf(0, a.place)].Samples = make([]result.Sample, 2)
		arms = append(arms, a)
	}
	return arms
}

func TestSlotsGrowUntilTheirBeginningIsLikeTheRest(t *testing.T) {
	r := &runner{
		plan: result.Plan{Blocks: 6}, groups: []group{{workload: result.WorkloadPlan{Name: "tcp_stream"}, places: make([]place, 1)}, {places: make([]place, 1)}},
		cells: map[cellKey]*result.Cell{}, turns: map[int]*turns{},
	}
	least := r.slotOf(0)
	labtest.Equal(t, "a block with even slots is forgotten", r.lengthen(0, armsOf(r, 1.002)), false)
	labtest.Equal(t, "one with a slow beginning is", r.lengthen(0, armsOf(r, 1.03)), true)
	labtest.Equal(t, "slot", r.slotOf(0), 2*least)
	for key, cell := range r.cells {
		labtest.Equal(t, "samples of "+key.network, len(cell.Samples), 0)
	}
	labtest.Equal(t, "the group is due in place of the two blocks", r.due(0, 7), true)
	labtest.Equal(t, "and no more", r.due(0, 8), false)
	labtest.Equal(t, "the others are due", r.due(1, 6), false)

	for range tuning {
		labtest.Equal(t, "even slots grow", r.lengthen(0, armsOf(r, 1)), false)
	}
	labtest.Equal(t, "slots grow late", r.lengthen(0, armsOf(r, 1.03)), false)
	r.turns[0] = &turns{slot: mostSlot}
	labtest.Equal(t, "slots grow for ever", r.lengthen(0, armsOf(r, 1.03)), false)
	if mostSlot > 100*time.Millisecond {
		t.Errorf("slots of %v: noise changes between those of a cycle", mostSlot)
	}
}
