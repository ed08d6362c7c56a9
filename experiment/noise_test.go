package experiment

import (
	"context"
	"slices"
	"strings"
	"testing"

	"tare/probe"
	"tare/result"
	"tare/test/labtest"
	"tare/workload"
)

// A hypervisor that takes more than a hundredth of all CPU time is named, with every number.
func TestStolenTimeIsAWarning(t *testing.T) {
	for _, test := range []struct {
		stolen float64 // s of 10000
		want   bool
	}{{5000, true}, {200, true}, {0, false}} {
		r := synthetic(t, vxlanPlan("tcp_rr"))
		feed(r, 6, noisy(1, "rtt_p50", 1, 0.01, 1))
		r.before = map[string]probe.Load{here: {CPU: probe.CPUTimes{Total: 500, Steal: 20}}}
		r.disturbed(nil, map[string]probe.CPUTimes{here: {Total: 10500, Steal: 20 + result.Seconds(test.stolen)}}, nil)
		r.weigh()
		if share := r.res.Noise.Steal; !near(share, test.stolen/10000, 1e-9) {
			t.Errorf("steal %v", share)
		}
		for _, net := range []string{"host", "vxlan"} {
			warned := slices.ContainsFunc(weighed(t, r, net, "rtt_p50").Warnings, func(w string) bool { return strings.HasPrefix(w, "steal: ") })
			if warned != test.want {
				t.Errorf("%v of 10000 s stolen: %s has the warning: %t", test.stolen, net, warned)
			}
		}
	}
}

func TestLabGateLooksAtTheMachine(t *testing.T) {
	r := synthetic(t, vxlanPlan("tcp_rr"))
	c := conductor{}
	loads, err := c.loads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.gate(loads)
	noise := r.res.Noise
	labtest.AtLeast(t, "foreign CPU", noise.ForeignCPU, 0)
	if noise.Pressure != -1 { // which is a kernel without PSI
		labtest.Between(t, "pressure", noise.Pressure, 0, 1)
	}
	labtest.MoreThan(t, "CPU time before", r.before[here].CPU.Total, 0)
	busy := noise.ForeignCPU > gateForeignCPU+probe.LoadError()
	if warned := slices.ContainsFunc(r.gates, func(w string) bool { return strings.HasPrefix(w, "foreign-cpu: ") }); warned != busy {
		t.Errorf("%v CPUs busy, warnings %q", noise.ForeignCPU, r.gates)
	}
}

// TestTesterLimited: a thread that is busy in most windows is named, one that
// was in a few is not.
func TestTesterLimited(t *testing.T) {
	for want, busy := range map[bool][]float64{true: {0.99, 0.4, 0.97, 0.96}, false: {0.99, 0.4, 0.5}} {
		cell := &result.Cell{Samples: []result.Sample{{Counters: map[string]float64{}}}}
		for _, share := range busy {
			cell.Samples = append(cell.Samples, result.Sample{Counters: map[string]float64{workload.ThreadBusy: share}})
		}
		if got := len(testerLimited(cell)) > 0; got != want {
			t.Errorf("%v: tester-limited is %t, want %t", busy, got, want)
		}
	}
}

// busier is a site whose other work grows by a CPU with each look.
type busier struct {
	*loopSite
	looks float64
}

func (b *busier) Loads(context.Context) (map[string]probe.Load, error) {
	b.looks++
	return map[string]probe.Load{"h2": {ForeignCPU: b.looks - 1}}, nil
}

func (b *busier) CPUTimes(context.Context) (map[string]probe.CPUTimes, error) {
	return map[string]probe.CPUTimes{"h2": {}}, nil
}

// A run that yields ends after the block in which others began to need a machine; one that
// does not goes on.
func TestLabRunYieldsToOthers(t *testing.T) {
	const want = "yield: stopped after 1 of 3 blocks: other work keeps 1.0 CPUs busy on the machine of h2, before the run 0.0"
	for _, yield := range []bool{true, false} {
		plan := loopPlan(t)
		plan.Blocks = 3
		run := newLoopRun(t, plan)
		run.Site, run.Yield = &busier{loopSite: run.site}, yield
		res, err := Run(t.Context(), plan, run.Options)
		if err != nil {
			t.Fatal(err)
		}
		labtest.Equal(t, "it says that it stopped", slices.Contains(res.Warnings, want), yield)
		labtest.Equal(t, "blocks that it did", run.progress[len(run.progress)-1].Block, map[bool]int{true: 1, false: 3}[yield]) // a busy machine may miss a cell's windows
	}
}
