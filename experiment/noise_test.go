package experiment

import (
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

// What keeps the machine busy before the run is a warning to every number.
func TestGatesWarnOfABusyMachine(t *testing.T) {
	for _, c := range []struct {
		load  probe.Load
		gates string
	}{
		{probe.Load{}, ""},
		{probe.Load{ForeignCPU: 0.5, Pressure: 0.05}, "foreign-cpu: other work kept 0.50 CPUs busy before the run"},
		{probe.Load{Pressure: 0.06}, "pressure: tasks waited for a CPU 6 % of the time before the run"},
		{probe.Load{Pressure: -1}, ""}, // a kernel without PSI
	} {
		r := synthetic(t, vxlanPlan("tcp_rr"))
		r.gate(map[string]probe.Load{here: c.load})
		labtest.Equal(t, "foreign CPU", r.res.Noise.ForeignCPU, c.load.ForeignCPU)
		labtest.Equal(t, "pressure", r.res.Noise.Pressure, c.load.Pressure)
		labtest.Equal(t, "gates", strings.Join(r.gates, "; "), c.gates)
	}
	r := synthetic(t, vxlanPlan("tcp_rr"))
	r.gate(map[string]probe.Load{"h1": {ForeignCPU: 0.5}, "h2": {ForeignCPU: 2}})
	labtest.Equal(t, "foreign CPU of two machines", r.res.Noise.ForeignCPU, 2)
	labtest.Contains(t, "gates", strings.Join(r.gates, "; "), "2.00 CPUs busy before the run on the machine of h2")
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

// A run that yields ends after the block in which others began to need a machine; one that
// does not goes on.
func TestRunYieldsToOthers(t *testing.T) {
	const want = "yield: stopped after 2 of 4 blocks: other work keeps 1.0 CPUs busy, before the run 0.0"
	for _, yield := range []bool{true, false} {
		simulated(t, func(t *testing.T) {
			plan := simPlan()
			plan.Blocks = 4
			run := newSimRun(t, plan, even().Measure)
			looks := -1.0
			run.site.Load = func() probe.Load { looks++; return probe.Load{ForeignCPU: looks / 2} }
			run.Yield = yield
			res := run.mustRun(t, plan)
			labtest.Equal(t, "it says that it stopped", slices.Contains(res.Warnings, want), yield)
			labtest.Equal(t, "blocks", len(cellOf(t, res, "veth").Samples), map[bool]int{true: 2, false: 4}[yield])
		})
	}
}
