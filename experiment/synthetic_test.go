package experiment

import (
	"math"
	"math/rand/v2"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/site"
)

// silent is what a run without a site and without a reader needs.
func silent(plan result.Plan) Options {
	return Options{
		Topology: emptyLab(plan), Progress: func(Progress) {}, Save: func(*result.Result) error { return nil },
	}
}

// emptyLab is the plan's lab with nothing in it.
func emptyLab(plan result.Plan) site.Topology {
	t := site.Topology{Privilege: "root"}
	for _, spec := range Spec(plan, 2, 2).Clusters {
		t.Clusters = append(t.Clusters, site.Built{ClusterSpec: spec, RPS: true})
	}
	return t
}

// synthetic is the recorder of a plan, whose samples come from feed.
func synthetic(t testing.TB, plan result.Plan) *recorder {
	t.Helper()
	r, err := newRunner(plan, silent(plan))
	if err != nil {
		t.Fatal(err)
	}
	return r.recorder
}

// feed adds blocks of samples. make gives a place's sample in a block, and
// false where it has none.
func feed(r *recorder, blocks int, make func(block int, g group, p place) (result.Sample, bool)) {
	for block := range blocks {
		for n, g := range r.groups {
			for order, p := range g.places {
				s, ok := make(block, g, p)
				if !ok {
					continue
				}
				s.Block, s.Order, s.Layout = block, order, p.layout
				cell := r.cells[keyOf(n, p)]
				cell.Samples = append(cell.Samples, s)
			}
		}
	}
}

// noisy makes values of one metric around a level, with log-normal noise of
// the given sigma; the cells that are no baseline have factor times as much.
// Every block is also disturbed as a whole, with a sigma of 0.5.
func noisy(seed uint64, name string, level, sigma, factor float64) func(int, group, place) (result.Sample, bool) {
	rng := rand.New(rand.NewPCG(seed, 1))
	disturbed, last := 1.0, -1
	return func(block int, _ group, p place) (result.Sample, bool) {
		if block != last {
			disturbed, last = math.Exp(0.5*rng.NormFloat64()), block
		}
		v := level * disturbed * math.Exp(sigma*rng.NormFloat64())
		if p.layout == "" {
			v *= factor
		}
		return result.Sample{Metrics: map[string]float64{name: v}, Counters: map[string]float64{}}, true
	}
}

// exactly makes samples by network and layout: "host a", "vxlan".
func exactly(metrics map[string]map[string]float64) func(int, group, place) (result.Sample, bool) {
	return func(_ int, _ group, p place) (result.Sample, bool) {
		name := p.network.Name
		if p.layout != "" {
			name += " " + p.layout
		}
		m, ok := metrics[name]
		return result.Sample{Metrics: m, Counters: map[string]float64{}}, ok
	}
}

// vxlanPlan weighs vxlan alone, between hosts.
func vxlanPlan(workloads ...string) result.Plan {
	p := result.Plan{
		Networks: []result.NetworkPlan{{Name: "vxlan"}}, Paths: []string{catalog.CrossHost},
		Axes: result.PlanAxes{"nic": {"full"}}, Seed: 1,
	}
	for _, w := range workloads {
		p.Workloads = append(p.Workloads, result.WorkloadPlan{Name: w})
	}
	return Complete(p)
}

// weighed gives a metric of a cell, and fails without it.
func weighed(t testing.TB, r *recorder, net, name string) result.Metric {
	t.Helper()
	m, ok := find(r, net, name)
	if !ok {
		t.Fatalf("%s has no %s: %+v", net, name, r.res.Cells)
	}
	return m
}

func find(r *recorder, net, name string) (result.Metric, bool) {
	for _, c := range r.res.Cells {
		for _, m := range c.Metrics {
			if c.Network == net && m.Name == name {
				return m, true
			}
		}
	}
	return result.Metric{}, false
}

// tolled gives a metric that has a toll.
func tolled(t testing.TB, r *recorder, net, name string) (result.Metric, result.Toll) {
	t.Helper()
	m := weighed(t, r, net, name)
	if m.Toll == nil {
		t.Fatalf("%s of %s has no toll: %+v", name, net, m)
	}
	return m, *m.Toll
}
