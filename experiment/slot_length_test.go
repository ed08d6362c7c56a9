package experiment

import (
	"testing"
	"time"

	"tare/network"
	"tare/result"
	"tare/test/labtest"
)

// turnsTaken adds a block of so many cycles to a network and both baselines, where the
// second halves of the network's slots have this ratio to all of each.
func turnsTaken(r *runner, ratio float64, cycles int) {
	for n, p := range r.groups[0].places {
		key, later := keyOf(0, p), ratio
		if p.network.Name == network.Baseline {
			later = 1
		}
		if r.cells[key] == nil {
			r.cells[key] = &result.Cell{Network: p.network.Name}
		}
		s := result.Sample{Block: r.turns[0].measured, Layout: p.layout, Slots: &result.Slots{Later: map[string][]float64{}}}
		for cycle := range cycles {
			s.Slots.Later["throughput"] = append(s.Slots.Later["throughput"], later+0.001*float64((cycle+n)%3))
		}
		r.cells[key].Samples = append(r.cells[key].Samples, s)
	}
}

func TestSlotsGrowUntilTheirBeginningIsLikeTheRest(t *testing.T) {
	baseline := network.Network{Name: network.Baseline}
	r := &runner{
		plan: result.Plan{Blocks: 6}, cells: map[cellKey]*result.Cell{}, turns: map[int]*turns{},
		groups: []group{{
			workload: result.WorkloadPlan{Name: "tcp_stream"},
			places:   []place{{network: network.Network{Name: "vxlan"}}, {network: baseline, layout: "a"}, {network: baseline, layout: "b"}},
		}, {places: make([]place, 1)}},
	}
	block := func(ratio float64, cycles int) bool {
		turnsTaken(r, ratio, cycles)
		return r.lengthen(0)
	}
	least := r.slotOf(0)
	labtest.Equal(t, "a block with even slots is forgotten", block(1.002, 4), false)
	r.cells, r.turns[0].measured = map[cellKey]*result.Cell{}, 0
	labtest.Equal(t, "four cycles are enough to know", block(1.03, 4), false)
	labtest.Equal(t, "those of two blocks are", block(1.03, 4), true)
	labtest.Equal(t, "slot", r.slotOf(0), 2*least)
	for key, cell := range r.cells {
		labtest.Equal(t, "samples of "+key.network, len(cell.Samples), 0)
	}
	labtest.Equal(t, "the group is due in place of the two blocks", r.due(0, 7), true)
	labtest.Equal(t, "and no more", r.due(0, 8), false)
	labtest.Equal(t, "the others are due", r.due(1, 6), false)

	for range tuning {
		labtest.Equal(t, "even slots grow", block(1, 10), false)
	}
	labtest.Equal(t, "slots grow late", block(1.03, 100), false)
	r.turns[0] = &turns{slot: mostSlot}
	labtest.Equal(t, "slots grow for ever", block(1.03, 10), false)
	if mostSlot > 100*time.Millisecond {
		t.Errorf("slots of %v: noise changes between those of a cycle", mostSlot)
	}
}
