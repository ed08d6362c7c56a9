package experiment

import (
	"math"
	"testing"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/test/labtest"
	"tare/test/simtest"
	"tare/weigh"
)

// weighing is what many runs of one plan in one world found of the toll of route.
type weighing struct {
	truth                   float64
	runs, blocks            int
	covered, beyond, steady int // intervals that have the true toll; verdicts that there is one; that there is none
	mean                    float64
	failed                  int
}

// routePlan weighs route between hosts.
func routePlan(load string, blocks int) result.Plan {
	return Complete(result.Plan{
		Networks: result.NetworksNamed("route"), Paths: []string{catalog.CrossHost}, Workloads: []result.WorkloadPlan{{Name: load}},
		Axes: result.PlanAxes{"nic": {"full"}, "cc": {"cubic"}}, Blocks: blocks, Warmup: 0.002, Duration: 0.020,
	})
}

// weighMany measures a plan so often in worlds that differ in their seed alone.
func weighMany(t *testing.T, plan result.Plan, w simtest.World, runs int) (all weighing) {
	t.Helper()
	all.runs = runs
	// The true toll is against the mean of both baselines, in log.
	all.truth = (1+w.Tolls["route"])/math.Sqrt(1+w.Tolls["host-b"]) - 1
	simulated(t, func(t *testing.T) {
		for n := range runs {
			plan.Seed, w.Seed = uint64(n+1), uint64(n+1)
			all.add(t, plan, w)
		}
	})
	all.mean /= float64(runs)
	return all
}

// add measures a plan once.
func (all *weighing) add(t *testing.T, plan result.Plan, w simtest.World) {
	site := simtest.New(w.Measure)
	o := silent(plan)
	o.Site, o.Topology = site, simLab(plan)
	o.Topology.Places = []result.Place{{}}
	res, err := Run(t.Context(), plan, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := site.Close(); err != nil {
		t.Fatal(err)
	}
	cell := cellOf(t, res, "route")
	all.blocks += len(cell.Samples)
	m := weigh.Headline(cell)
	if cell.Status != result.StatusOK || m == nil || m.Toll == nil || m.Toll.Low == nil {
		all.failed++
		return
	}
	all.mean += m.Toll.Value
	if *m.Toll.Low <= all.truth && all.truth <= *m.Toll.High {
		all.covered++
	}
	switch stats.Verdict(m.Toll.Verdict) {
	case stats.Slower, stats.Faster:
		all.beyond++
	case stats.Equal:
		all.steady++
	}
}

// noisyWorld has as much noise as a busy machine.
func noisyWorld(toll float64) simtest.World {
	return simtest.World{Value: 50e-6, CC: "cubic", Block: 0.02, Slot: 0.03, Tolls: map[string]float64{"route": toll}}
}

// worlds differ in what makes tolls hard to see.
func worlds() map[string]simtest.World {
	none, much := noisyWorld(0), noisyWorld(0.1)
	drifting, late, unlike, coarse := much, much, much, much
	drifting.Drift = func(at time.Duration) float64 { return at.Seconds() } // it doubles in 0.7 s
	late.Late = 0.15
	unlike.Tolls = map[string]float64{"route": 0.1, "host-b": 0.02}
	coarse.Block = 0.08
	return map[string]simtest.World{
		"no toll": none, "a toll": much, "a drift": drifting, "late slots": late, "baselines that differ": unlike, "blocks that differ": coarse,
	}
}

// judgeWorlds weighs a toll in each world so often, and judges what is found.
func judgeWorlds(t *testing.T, plan result.Plan, runs int) {
	t.Helper()
	for name, w := range worlds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := weighMany(t, plan, w, runs)
			share := func(n int) float64 { return float64(n) / float64(runs) }
			chance := 3 * math.Sqrt(0.05*0.95/float64(runs))
			t.Logf("%d runs of %.1f blocks: mean %.4f, %.3f covered, %.3f with a difference, %.3f without", runs, float64(all.blocks)/float64(runs), all.mean, share(all.covered), share(all.beyond), share(all.steady))
			labtest.Equal(t, "runs without a toll", all.failed, 0)
			labtest.Near(t, "mean toll", all.mean, all.truth, 3*w.Block/math.Sqrt(float64(runs*all.blocks/runs)))
			labtest.AtLeast(t, "intervals that have the toll", share(all.covered), 0.95-chance)
			if all.truth == 0 {
				labtest.AtMost(t, "runs that find a difference where there is none", share(all.beyond), 0.01)
			} else if w.Block < 0.05 {
				labtest.AtLeast(t, "runs that find the toll", share(all.beyond), 0.85)
			}
		})
	}
}

// Tolls that are known are found by whole runs, with agents, slots and looks.
func TestRunsFindKnownTolls(t *testing.T) { judgeWorlds(t, routePlan("tcp_rr", 7), 60) }

// TestDeepRunsFindKnownTolls is the same, ten thousand times, with looks too.
func TestDeepRunsFindKnownTolls(t *testing.T) {
	t.Run("a number of blocks", func(t *testing.T) { judgeWorlds(t, routePlan("tcp_rr", 7), 1000) })
	t.Run("looks", func(t *testing.T) {
		plan := routePlan("tcp_rr", 10)
		plan.Looks = true
		judgeWorlds(t, plan, 700)
	})
}
