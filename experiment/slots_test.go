package experiment

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"tare/catalog"
	"tare/probe"
	"tare/result"
	"tare/test/labtest"
	"tare/test/simtest"
	"tare/weigh"
	"tare/workload"
)

// Slots whose beginning is unlike the rest are doubled, and the blocks that had them are measured
// again.
func TestShortSlotsAreMeasuredAgain(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		w := even()
		w.Early = 0.05
		res := newSimRun(t, plan, w.Measure).mustRun(t, plan)
		for _, cell := range res.Cells {
			labtest.Equal(t, cell.Network+": blocks", len(cell.Samples), plan.Blocks*len(cell.Clusters))
			for _, s := range cell.Samples {
				labtest.Equal(t, cell.Network+": length of its slots", s.Slots.Length, 0.040)
				labtest.AtLeast(t, cell.Network+": block", s.Block, 4) // 3 ms was doubled four times
			}
		}
	})
}

// lateOnce is a model of a world in which all slots of a network's block are late but one.
func lateOnce(w simtest.World, number int) simtest.Model {
	return func(r simtest.Request) simtest.Reply {
		reply := w.Measure(r)
		if r.At == "veth.h1/c1" && r.Number == number {
			clear(reply.Tally.Slots["rtt_p50"][1:])
		}
		return reply
	}
}

// A block that gives a network no toll has a second chance, unless the plan has blocks to spare.
func TestLateBlockHasASecondChance(t *testing.T) {
	for _, looks := range []bool{false, true} {
		simulated(t, func(t *testing.T) {
			plan := simPlan()
			plan.Looks = looks
			requests := 0
			late := lateOnce(even(), checks+1)
			run := newSimRun(t, plan, func(r simtest.Request) simtest.Reply {
				if r.At == "veth.h1/c1" {
					requests = max(requests, r.Number)
				}
				return late(r)
			})
			veth := cellOf(t, run.mustRun(t, plan), "veth")
			labtest.Equal(t, "blocks", len(veth.Samples), plan.Blocks)
			labtest.Equal(t, "tries", requests-checks, map[bool]int{false: plan.Blocks + 1, true: plan.Blocks}[looks])
			toll := weigh.Headline(veth).Toll
			labtest.Equal(t, "all six blocks, which an interval needs, have a toll", toll != nil && toll.Low != nil, !looks)
		})
	}
}

// spoilt is a world in which something happens to the slots of some places.
func spoilt(w simtest.World, how func(simtest.Request, *workload.Tally), at ...string) simtest.Model {
	return func(r simtest.Request) simtest.Reply {
		reply := w.Measure(r)
		if slices.Contains(at, r.At) && r.Number > checks {
			how(r, &reply.Tally)
		}
		return reply
	}
}

// Where many slots of a network are lost, and not the baseline's, all of its group is measured in windows: what
// counted in those that are left would hide what was lost. So it is where a CPU quota refills while slots rest.
func TestUselessSlotsBecomeWindows(t *testing.T) {
	lost := func(r simtest.Request, tally *workload.Tally) { // all slots, in one of two runs
		if slots := tally.Slots["rtt_p50"]; len(slots) > 0 {
			clear(slots[r.Number%2:])
		}
	}
	quota := func(_ simtest.Request, tally *workload.Tally) {
		tally.Readings = append(tally.Readings, result.Reading{Source: probe.QuotaSource, Counts: map[string]float64{"periods": 3}})
	}
	everywhere := []string{"veth.h1/c1", "host.h1/c1", "host-b.h1/c1"}
	for _, c := range []struct {
		name string
		how  func(simtest.Request, *workload.Tally)
		at   []string
		want string // a warning; empty: they stay
	}{
		{"lost", lost, everywhere[:1], "nothing came over veth in many slots"},
		{"lost as the baseline's", lost, everywhere, ""},
		{"quota", quota, everywhere[:1], "the CPU quota of veth's containers refills while its slots rest"},
		{"quota for all", quota, everywhere, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				plan := simPlan()
				plan.Blocks = 8
				res := newSimRun(t, plan, spoilt(even(), c.how, c.at...)).mustRun(t, plan)
				for _, cell := range res.Cells {
					for _, s := range cell.Samples {
						labtest.Equal(t, cell.Network+" is in slots", s.Slots != nil, c.want == "")
					}
					labtest.Equal(t, cell.Network+": design", cell.Params["design"], map[bool]any{false: nil, true: result.DesignSlots}[c.want == ""])
				}
				warnings := strings.Join(res.Warnings, "\n")
				labtest.Equal(t, "warned", strings.Contains(warnings, "in-windows: "), c.want != "")
				if c.want == "" {
					return
				}
				labtest.Equal(t, "the reason is said", strings.Contains(warnings, "in-windows: tcp_rr on same-host: "+c.want), true)
				toll := weigh.Headline(cellOf(t, res, "veth")).Toll
				labtest.Equal(t, "the toll has an interval", toll != nil && toll.Low != nil, true)
			})
		})
	}
}

// A network whose toll is clear leaves its time to those whose toll is not.
func TestClearTollLeavesItsTime(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		plan.Looks, plan.Blocks = true, 12
		w := even()
		w.Block, w.Tolls = 0.04, map[string]float64{"veth": 0.5, "bridge": 0.04}
		res := newSimRun(t, plan, w.Measure).mustRun(t, plan)
		veth, bridge := cellOf(t, res, "veth"), cellOf(t, res, "bridge")
		labtest.Equal(t, "blocks of the clear one", len(veth.Samples), 7)
		labtest.MoreThan(t, "blocks of the other, which got its time", len(bridge.Samples), plan.Blocks)
		labtest.Equal(t, "blocks of the baselines", len(cellOf(t, res, catalog.Baseline).Samples), 2*len(bridge.Samples))
	})
}

// losingSite is one whose network is lost once it was weighed for a while.
type losingSite struct {
	*simtest.Site
	began time.Time
}

func (s losingSite) Lost(context.Context) (map[string]string, error) {
	if time.Since(s.began) < time.Second {
		return nil, nil
	}
	return map[string]string{"veth": "its passenger has ended"}, nil
}

// A network that has lost its passenger fails, with all that was measured of it.
func TestLostNetworkFails(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		plan.Networks = []result.NetworkPlan{{Name: "veth", Params: result.MakeSettings(map[string]string{catalog.With: "any"})}, {Name: "bridge"}}
		run := newSimRun(t, plan, even().Measure)
		run.Site = losingSite{run.site, time.Now()}
		res := run.mustRun(t, plan)
		veth, bridge := cellOf(t, res, "veth"), cellOf(t, res, "bridge")
		labtest.Equal(t, "status", veth.Status, result.StatusFailed)
		labtest.Equal(t, "reason", veth.Reason, "its passenger has ended")
		labtest.Equal(t, "samples", len(veth.Samples), 0)
		labtest.Equal(t, "samples of the other", len(bridge.Samples), plan.Blocks)
	})
}
