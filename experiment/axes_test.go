package experiment

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"tare/catalog"
	"tare/lab"
	"tare/result"
	"tare/workload"
)

// everyPlan is a plan in which everything is set that a cell can be measured with,
// for a workload.
func everyPlan(kind workload.Workload) result.Plan {
	w := result.WorkloadPlan{Name: kind.Name, Flows: 1, Size: kind.Size.Most, Sizes: kind.Sizes, Rate: result.Rate{Value: kind.Rate + 1}}
	for _, extra := range kind.Takes {
		switch extra {
		case catalog.TakesSizes:
			w.Sizes = "64"
		case catalog.TakesBytes:
			w.Bytes = 1
		case catalog.TakesReverse:
			w.Reverse = true
		case catalog.TakesBidir:
			w.Bidir = true
		case catalog.TakesCC:
			w.CC = "bbr"
		}
	}
	return Complete(result.Plan{
		Networks: result.NetworksNamed(catalog.Baseline, "bridge"), Workloads: []result.WorkloadPlan{w}, Axes: everyAxis(),
	})
}

// everyAxis has values of each axis that a plan sets, two where there may be several.
func everyAxis() result.PlanAxes {
	axes := result.PlanAxes{}
	for _, a := range result.PlannedAxes() {
		values := []any{4.0, 6.0}
		switch {
		case a.Words != nil:
			values = []any{a.Words[0], a.Words[1]}
		case a.Default != nil && a.Most == 0:
			values = []any{a.Default}
		case a.Most > 0:
			values = []any{a.Most, max(a.Least, a.Most/4)}
		}
		if !a.Many {
			values = values[:1]
		}
		axes = axes.With(a.Name, values...)
	}
	return axes
}

// TestEveryParameterIsDeclared checks that every parameter that a plan can give a
// cell is an axis, or is declared by a network, and never both.
func TestEveryParameterIsDeclared(t *testing.T) {
	settings := map[string]string{}
	for _, p := range catalog.Params() {
		settings[p.Name] = "1"
		if _, is := result.AxisOf(p.Name); is {
			t.Errorf("%s is an axis and a parameter of networks", p.Name)
		}
	}
	seen := map[string]bool{}
	for _, kind := range workload.All() {
		plan := everyPlan(kind)
		for n := range plan.Networks {
			plan.Networks[n].Params = result.MakeSettings(settings)
		}
		inSlots := Complete(result.Plan{Design: result.DesignSlots, Workloads: []result.WorkloadPlan{{Name: kind.Name}}})
		for _, plan := range []result.Plan{plan, inSlots} {
			for _, g := range groupsOf(plan) {
				for _, cell := range g.places {
					maps.Copy(seen, declared(t, params(plan, g, cell, true), settings))
				}
			}
		}
	}
	foreign := []string{"kernel", "tool_version", "file", "side", "direction", "url", "threads", "pipelining", "test", "protocol"}
	for _, a := range result.Axes() {
		if !seen[a.Name] && !slices.Contains(foreign, a.Name) {
			t.Errorf("no plan gives a cell the axis %s: leave it out, or let this test set it", a.Name)
		}
	}
}

// TestWordsOfAxes: those that the code knows by constants are those of the list.
func TestWordsOfAxes(t *testing.T) {
	for name, words := range map[string][]string{
		"nic": {string(lab.NICFull), string(lab.NICTSO), string(lab.NICFrames), string(lab.NICPlain)},
		"pin": {catalog.PinApart, catalog.PinSame, catalog.PinNone}, "rps": {rpsOn, rpsOff},
	} {
		if a, _ := result.AxisOf(name); !slices.Equal(a.Words, words) {
			t.Errorf("%s has the words %q, want %q", name, a.Words, words)
		}
	}
}

func declared(t *testing.T, params result.Params, settings map[string]string) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	for name := range params {
		_, axis := result.AxisOf(name)
		_, own := settings[name]
		if !axis && !own {
			t.Errorf("parameter %s is declared nowhere: add it to result.Axes", name)
		}
		seen[name] = true
	}
	return seen
}

// TestFileIsWeighedAsItWas weighs a run again that was written and read: what
// layer 4 predicts and what the wire can carry come out the same.
func TestFileIsWeighedAsItWas(t *testing.T) {
	plan := Complete(result.Plan{
		Networks: result.NetworksNamed("host", "vxlan"), Paths: []string{"cross-host"}, Axes: result.PlanAxes{"link": {1e9}}, Blocks: 6,
		Workloads: []result.WorkloadPlan{{Name: "http", Size: 1000, Flows: 4}, {Name: "udp_stream"}},
	})
	r := synthetic(t, plan)
	feed(r, plan.Blocks, func(block int, _ group, p place) (result.Sample, bool) {
		slow := 1.0
		if p.layout == "" {
			slow = 1.3
		}
		return result.Sample{Counters: map[string]float64{}, Metrics: map[string]float64{
			"rtt_p50": 30e-6 * slow, "throughput": 1e8 / slow, "rate": 4e4 / slow, "latency_p50": 1e-4 * slow,
		}}, true
	})
	r.weigh()
	var before, after bytes.Buffer
	if err := r.res.Write(&before); err != nil {
		t.Fatal(err)
	}
	again, err := result.Read(bytes.NewReader(before.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for n := range again.Cells { // weighed by what the file holds
		*r.cells[r.order[n]] = again.Cells[n]
	}
	r.weigh()
	if err := r.res.Write(&after); err != nil {
		t.Fatal(err)
	}
	if before.String() != after.String() {
		t.Error("a result that was read is weighed otherwise than as it was measured")
	}
	if !bytes.Contains(before.Bytes(), []byte(`"layer4"`)) || !bytes.Contains(before.Bytes(), []byte(`"ceiling"`)) {
		t.Error("nothing was predicted, or nothing has a ceiling")
	}
}
