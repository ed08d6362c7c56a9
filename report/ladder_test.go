package report

import (
	"math"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
	"tare/weigh"
)

// chain is how the rung of a network leads down to the baseline.
func chain(l ladder, name string) []string {
	var labels []string
	for r := l.Rung(weigh.RungKey{Network: name}); r != nil; r = r.Parent {
		labels = append(labels, l.label(r))
	}
	return labels
}

func TestLadderFindsTheParent(t *testing.T) {
	all := []string{"host", "veth", "bridge", "nat", "proxy", "macvlan", "route", "ptp", "vxlan"}
	docker := []string{"host", "docker-host", "docker-bridge", "docker-nat", "docker-proxy", "docker-overlay"}
	for _, test := range []struct {
		measured []string
		path     string
		network  string
		want     []string
	}{
		{all, catalog.SameHost, "vxlan", []string{"vxlan", "bridge", "veth", "host"}},
		{all, catalog.CrossHost, "vxlan", []string{"vxlan", "bridge (as route)", "veth (as ptp)", "host"}},
		{all, catalog.CrossHost, "macvlan", []string{"macvlan", "host"}},
		{all, catalog.PublishedPort, "nat", []string{
			"nat", "bridge (as route, host-to-container)", "veth (as ptp, host-to-container)", "host"}},
		{all, catalog.ContainerToPublishedPort, "proxy", []string{
			"proxy", "bridge (as route, cross-host)", "veth (as ptp, cross-host)", "host"}},
		{[]string{"host", "vxlan"}, catalog.CrossHost, "vxlan", []string{"vxlan", "host"}},
		{docker, catalog.SameHost, "docker-bridge", []string{"docker-bridge", "docker-host", "host"}},
		{docker, catalog.CrossHost, "docker-overlay", []string{"docker-overlay", "docker-host", "host"}},
		{docker, catalog.SameHost, "docker-overlay", []string{"docker-overlay", "docker-bridge", "docker-host", "host"}},
		{docker, catalog.PublishedPort, "docker-nat", []string{"docker-nat", "docker-host (host-to-container)", "host"}},
		{docker, catalog.ContainerToPublishedPort, "docker-proxy", []string{"docker-proxy", "docker-host (cross-host)", "host"}},
		{[]string{"host", "ptp", "vxlan"}, catalog.CrossHost, "vxlan", []string{"vxlan", "veth (as ptp)", "host"}},
		{[]string{"host", "veth", "vxlan"}, catalog.SameHost, "vxlan", []string{"vxlan", "veth", "host"}},
		{[]string{"host", "veth", "route"}, catalog.SameHost, "route", []string{"route", "veth", "host"}},
		{[]string{"host", "elsewhere"}, catalog.SameHost, "elsewhere", []string{"elsewhere", "host"}},
	} {
		w := newWorld(plan(), 1)
		w.networks, w.paths, w.loads = test.measured, catalog.Paths(), streamAndTrip()
		groups := groupsOf(w.result())
		for _, g := range sectionsOf(groups) {
			if g[0].Path != test.path {
				continue
			}
			l := newLadder(wordsOf(English), g, groups)
			got := chain(l, test.network)
			if l.Root == nil || len(got) != len(test.want) {
				t.Errorf("%s of %v on %s: %q, want %q", test.network, test.measured, test.path, got, test.want)
				continue
			}
			for i := range got {
				if got[i] != test.want[i] {
					t.Errorf("%s of %v on %s: %q, want %q", test.network, test.measured, test.path, got, test.want)
				}
			}
		}
	}
}

// TestLadderHoldsEveryNetwork: each measured network is a rung of the tree.
func TestLadderHoldsEveryNetwork(t *testing.T) {
	groups := groupsOf(quick())
	for _, g := range sectionsOf(groups) {
		l := newLadder(wordsOf(English), g, groups)
		inTree := map[weigh.RungKey]bool{}
		for _, b := range tree(l.Root, "", "") {
			inTree[b.Key] = true
		}
		for _, c := range g[0].Cells {
			if !inTree[weigh.RungKey{Network: c.Network}] {
				t.Errorf("%s is not on the ladder of %s", c.Network, l.Path)
			}
		}
	}
}

// TestFirstRungIsTheToll: what a network adds to the baseline is its toll, so
// the ladder must give what the table gives.
func TestFirstRungIsTheToll(t *testing.T) {
	groups := groupsOf(quick())
	g := sectionsOf(groups)[0]
	l := newLadder(wordsOf(English), g, groups)
	veth := l.Rung(weigh.RungKey{Network: "veth"})
	for slot, want := range []func(*result.Toll) [3]float64{
		func(toll *result.Toll) [3]float64 { return [3]float64{toll.Value, *toll.Low, *toll.High} },
		func(toll *result.Toll) [3]float64 {
			return [3]float64{toll.Delta.Value, *toll.Delta.Low, *toll.Delta.High}
		},
	} {
		s, ok := l.Step(veth, slot)
		table := want(weigh.Metric(veth.Cells[slot], l.Metrics[slot]).Toll)
		for i, got := range []float64{s.Value, s.Low, s.High} {
			if !ok || math.Abs(got-table[i]) > 1e-9*math.Abs(table[i]) {
				t.Errorf("load %d: the first rung is %v, the table has %v", slot, s.Interval, table)
			}
		}
	}
}

// TestStepPairsByBlock: a drift that all share from block to block is no part
// of a rung.
func TestStepPairsByBlock(t *testing.T) {
	groups := groupsOf(quick())
	for _, l := range groups {
		for _, c := range l.Cells {
			for i := range c.Samples {
				drift := math.Pow(3, float64(c.Samples[i].Block))
				for name := range c.Samples[i].Metrics {
					c.Samples[i].Metrics[name] *= drift
				}
			}
		}
	}
	l := newLadder(wordsOf(English), sectionsOf(groups)[0], groups)
	s, ok := l.Step(l.Rung(weigh.RungKey{Network: "bridge"}), 0)
	labtest.Equal(t, "a step of the bridge, with drift,", ok, true)
	labtest.Equal(t, "whole, of the step", s.Whole, true)
	labtest.Equal(t, "pairs of the step", s.Pairs, 10)
	labtest.AtLeast(t, "low end of the step, which is 0.02 without drift", s.Low, 0.01)
	labtest.AtMost(t, "high end of the step, which is 0.02 without drift", s.High, 0.04)
	cell := l.Rung(weigh.RungKey{Network: "bridge"}).Cells[0]
	cell.Samples = cell.Samples[:7]
	cell.Samples[0].Metrics = map[string]float64{"throughput": 0}
	s, ok = l.Step(l.Rung(weigh.RungKey{Network: "bridge"}), 0)
	labtest.Equal(t, "a step of the bridge, with a block without a ratio,", ok, true)
	labtest.Equal(t, "pairs of the step", s.Pairs, 6)
	labtest.Equal(t, "blocks of the step", s.Blocks, 7)
	labtest.Equal(t, "number of notes on the step", len(wordsOf(English).stepNotes(s)), 1)
}
