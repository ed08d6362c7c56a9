package experiment

import (
	"slices"
	"testing"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/test/labtest"
	"tare/weigh"
)

// tolledRun is a run of a plan in which each network but the baseline has a toll of half.
func tolledRun(t *testing.T, plan result.Plan) *recorder {
	t.Helper()
	r := synthetic(t, plan)
	feed(r, 10, noisy(1, "throughput", 1e10, 0.005, 0.5))
	r.last = true
	r.weigh()
	return r
}

// clusterNames names the clusters of a contrast that are to be built.
func clusterNames(c Contrast) (names []string) {
	for _, spec := range c.Spec.Clusters {
		names = append(names, spec.Name)
	}
	return names
}

func TestContrastHasWhatThePlanLacks(t *testing.T) {
	alone, tso := vxlanPlan("tcp_stream"), vxlanPlan("tcp_stream")
	tso.Axes = tso.Axes.With("nic", "tso")
	routes := vxlanPlan("tcp_stream")
	routes.Networks = result.NetworksNamed("ptp", "route", "vxlan")
	rules := vxlanPlan("tcp_stream")
	rules.Networks = []result.NetworkPlan{{Name: "vxlan", Params: result.MakeSettings(map[string]string{catalog.Rules: "1000"})}}
	for name, c := range map[string]struct {
		plan    result.Plan
		changed bool
		build   []string
	}{
		"with rules":              {rules, false, []string{"vxlan-2", "route", "ptp"}},
		"a tunnel alone":          {alone, false, []string{"route", "ptp"}},
		"with its ladder":         {routes, false, nil},
		"a poor interface":        {tso, false, []string{"host-full", "host-full-b", "vxlan-full", "route-full", "ptp-full"}},
		"in a lab of the user's":  {alone, true, []string{"vxlan-2", "route", "ptp"}},
		"with its ladder, there":  {routes, true, []string{"vxlan-2", "route-2", "ptp-2"}},
		"an encapsulation within": {result.Plan{Networks: alone.Networks, Paths: []string{catalog.SameHost}, Workloads: alone.Workloads, Axes: alone.Axes, Seed: 1}, false, []string{"bridge", "veth"}},
	} {
		r := tolledRun(t, Complete(c.plan))
		got, due := ContrastOf(r.res, emptyLab(r.plan), c.changed, time.Minute)
		labtest.Equal(t, name+": due", due, len(c.build) > 0)
		names := clusterNames(got)
		slices.Sort(names)
		slices.Sort(c.build)
		if !slices.Equal(names, c.build) {
			t.Errorf("%s: it builds %v, want %v", name, names, c.build)
		}
		if took := contrastBlocks * blockTimeOf(got.plan, got.groups); took > contrastTime {
			t.Errorf("%s: it takes %s", name, took)
		}
	}
}

// A contrast is measured no longer than its result was, or a few seconds, or half as long
// again on a busy machine; and it names what differs.
func TestContrastKeepsToItsTime(t *testing.T) {
	r := tolledRun(t, vxlanPlan("tcp_stream"))
	for span, most := range map[time.Duration]time.Duration{time.Second: shortContrast, 12 * time.Second: 12 * time.Second, time.Minute: contrastTime} {
		c, due := ContrastOf(r.res, emptyLab(r.plan), false, span)
		if took := contrastBlocks * blockTimeOf(c.plan, c.groups); !due || took > most || c.plan.MaxTime.Duration() > most*3/2 {
			t.Errorf("besides %s it takes %s, at most %v, want %s; due: %v", span, took, c.plan.MaxTime, most, due)
		}
	}
	changed, _ := ContrastOf(r.res, emptyLab(r.plan), true, time.Minute)
	for _, p := range changed.groups[0].places {
		besides := slices.Contains(clusterNames(changed), p.cluster)
		labtest.Equal(t, p.cluster+" is untouched", p.settings.Map()[weigh.Untouched] == "true", besides)
	}
}

func TestContrastNeedsACPU(t *testing.T) {
	r := tolledRun(t, vxlanPlan("tcp_stream"))
	r.res.Environment.CPUModel = "QEMU TCG CPU version 2.5+"
	_, due := ContrastOf(r.res, emptyLab(r.plan), false, time.Minute)
	labtest.Equal(t, "due on an emulated CPU", due, false)
}

// What costs nothing, or nothing that is known, has no contrast.
func TestContrastNeedsAToll(t *testing.T) {
	for name, sigma := range map[string]float64{"equal": 0.001, "inconclusive": 1} {
		r := synthetic(t, vxlanPlan("tcp_stream"))
		feed(r, 10, noisy(2, "throughput", 1e10, sigma, 1))
		r.last = true
		r.weigh()
		_, due := ContrastOf(r.res, emptyLab(r.plan), true, time.Minute)
		labtest.Equal(t, name, due, false)
	}
	labtest.Equal(t, "the margin", stats.DeclaredMargin < weigh.LeastPart, true)
}
