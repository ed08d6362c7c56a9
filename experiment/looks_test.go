package experiment

import (
	"testing"
	"time"

	"tare/network"
	"tare/result"
	"tare/stats"
	"tare/test/labtest"
	"tare/weigh"
)

// A network whose toll is decided leaves its group, and the group ends with its last.
func TestDecidedNetworksLeaveTheirTime(t *testing.T) {
	places := []place{{network: network.Network{Name: network.Baseline}, layout: "a"}, {network: network.Network{Name: network.Baseline}, layout: "b"}}
	for _, name := range []string{"vxlan", "route"} {
		places = append(places, place{network: network.Network{Name: name}, cluster: name})
	}
	r := &runner{
		plan:   result.Plan{Blocks: 10, Looks: true, Margin: stats.DeclaredMargin},
		groups: []group{{workload: result.WorkloadPlan{Name: "tcp_rr"}, places: places}},
		cells:  map[cellKey]*result.Cell{}, looks: looking{decided: map[*result.Cell]bool{}},
	}
	for _, p := range places[1:] {
		key := keyOf(0, p)
		r.cells[key] = &result.Cell{Network: p.network.Name, Workload: "tcp_rr", Group: "g", Status: result.StatusOK}
		r.order = append(r.order, key)
	}
	measure := func(block int, p place, rtt float64) {
		c := r.cells[keyOf(0, p)]
		c.Samples = append(c.Samples, result.Sample{Block: block, Layout: p.layout, Metrics: map[string]float64{"rtt_p50": rtt}})
	}
	visited := func(block int) (names []string) {
		for _, v := range r.wanted(block) {
			names = append(names, v.place.network.Name)
		}
		return names
	}
	first := 0
	for block := range weigh.MostLooked {
		if _, due := weigh.Look(block, weigh.MostLooked); due {
			first = block
			break
		}
	}
	for block := range first {
		wobble := 1 + 0.01*float64(block%3)
		measure(block, places[0], 50*wobble)
		measure(block, places[1], 50*(2-wobble))
		measure(block, places[2], 100*wobble)               // far beyond what is noise
		measure(block, places[3], 50*(1+0.9*(wobble-1.01))) // within
		r.look()
		if block < first-1 {
			labtest.Equal(t, "visits before the first look", len(visited(block+1)), 4)
		}
	}
	labtest.Equal(t, "vxlan is wanted", r.wants(0, places[2]), false)
	labtest.Equal(t, "route is wanted", r.wants(0, places[3]), true)
	labtest.Equal(t, "visits after the first look", len(visited(first)), 3)
	r.cells[keyOf(0, places[3])].Status = result.StatusFailed
	for block := first; !r.looks.decided[r.cells[keyOf(0, places[0])]] && block < weigh.MostLooked; block++ {
		measure(block, places[0], 50)
		measure(block, places[1], 50)
		r.look()
	}
	labtest.Equal(t, "a group without networks is measured", r.anyDue(first+1), false)
}

// A run with much time looks over all of it, one with little as often as any.
func TestLooksAreSpreadOverTheTime(t *testing.T) {
	for limit, want := range map[result.Seconds]int{0: weigh.MostLooked, 30: weigh.MostLooked, 600: 98} {
		r := &runner{plan: result.Plan{Looks: true, MaxTime: limit}}
		r.started = time.Now().Add(-48 * time.Second)
		r.looks.began = r.started.Add(12 * time.Second) // six blocks in 36 s
		for block := range leastBlocks {
			r.planLooks(block + 1)
		}
		if got := r.mostLooked(); got < want-1 || got > want+1 {
			t.Errorf("in %v s the last look is after %d blocks, want %d", limit, got, want)
		}
	}
}
