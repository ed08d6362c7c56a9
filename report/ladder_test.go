package report

import (
	"math"
	"testing"

	"tare/network"
	"tare/result"
)

// chain is how the rung of a network leads down to the baseline.
func chain(l *ladder, name string) []string {
	var labels []string
	for r := l.rungs[rungKey{network: name}]; r != nil; r = r.parent {
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
		{all, network.SameHost, "vxlan", []string{"vxlan", "bridge", "veth", "host"}},
		{all, network.CrossHost, "vxlan", []string{"vxlan", "bridge (as route)", "veth (as ptp)", "host"}},
		{all, network.CrossHost, "macvlan", []string{"macvlan", "host"}},
		{all, network.PublishedPort, "nat", []string{
			"nat", "bridge (as route, host-to-container)", "veth (as ptp, host-to-container)", "host"}},
		{all, network.ContainerToPublishedPort, "proxy", []string{
			"proxy", "bridge (as route, cross-host)", "veth (as ptp, cross-host)", "host"}},
		{[]string{"host", "vxlan"}, network.CrossHost, "vxlan", []string{"vxlan", "host"}},
		{docker, network.SameHost, "docker-bridge", []string{"docker-bridge", "docker-host", "host"}},
		{docker, network.CrossHost, "docker-overlay", []string{"docker-overlay", "docker-host", "host"}},
		{docker, network.SameHost, "docker-overlay", []string{"docker-overlay", "docker-bridge", "docker-host", "host"}},
		{docker, network.PublishedPort, "docker-nat", []string{"docker-nat", "docker-host (host-to-container)", "host"}},
		{docker, network.ContainerToPublishedPort, "docker-proxy", []string{"docker-proxy", "docker-host (cross-host)", "host"}},
		{[]string{"host", "ptp", "vxlan"}, network.CrossHost, "vxlan", []string{"vxlan", "veth (as ptp)", "host"}},
		{[]string{"host", "veth", "vxlan"}, network.SameHost, "vxlan", []string{"vxlan", "veth", "host"}},
		{[]string{"host", "veth", "route"}, network.SameHost, "route", []string{"route", "veth", "host"}},
		{[]string{"host", "elsewhere"}, network.SameHost, "elsewhere", []string{"elsewhere", "host"}},
	} {
		w := newWorld(plan(), 1)
		w.networks, w.paths, w.loads = test.measured, network.Paths(), streamAndTrip()
		loads := loadsOf(w.result())
		for _, g := range groupsOf(loads) {
			if g.loads[0].key.path != test.path {
				continue
			}
			l, root := newLadder(wordsOf(English), g, loads)
			got := chain(l, test.network)
			if root == nil || len(got) != len(test.want) {
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
	loads := loadsOf(quick())
	for _, g := range groupsOf(loads) {
		l, root := newLadder(wordsOf(English), g, loads)
		inTree := map[rungKey]bool{}
		for _, b := range tree(root, "", "") {
			inTree[b.key] = true
		}
		for _, c := range g.loads[0].cells {
			if !inTree[rungKey{network: c.Network}] {
				t.Errorf("%s is not on the ladder of %s", c.Network, l.path)
			}
		}
	}
}

// TestFirstRungIsTheToll: what a network adds to the baseline is its toll, so
// the ladder must give what the table gives.
func TestFirstRungIsTheToll(t *testing.T) {
	loads := loadsOf(quick())
	g := groupsOf(loads)[0]
	l, _ := newLadder(wordsOf(English), g, loads)
	veth := l.rungs[rungKey{network: "veth"}]
	for slot, want := range []func(*result.Toll) [3]float64{
		func(toll *result.Toll) [3]float64 { return [3]float64{toll.Value, *toll.Low, *toll.High} },
		func(toll *result.Toll) [3]float64 {
			return [3]float64{toll.Delta.Value, *toll.Delta.Low, *toll.Delta.High}
		},
	} {
		s, ok := l.step(veth, slot)
		table := want(metricOf(veth.cells[slot], l.headlines[slot]).Toll)
		for i, got := range []float64{s.value.Value, s.value.Low, s.value.High} {
			if !ok || math.Abs(got-table[i]) > 1e-9*math.Abs(table[i]) {
				t.Errorf("load %d: the first rung is %v, the table has %v", slot, s.value, table)
			}
		}
	}
}

// TestStepPairsByBlock: a drift that all share from block to block is no part
// of a rung.
func TestStepPairsByBlock(t *testing.T) {
	loads := loadsOf(quick())
	for _, l := range loads {
		for _, c := range l.cells {
			for i := range c.Samples {
				drift := math.Pow(3, float64(c.Samples[i].Block))
				for name := range c.Samples[i].Metrics {
					c.Samples[i].Metrics[name] *= drift
				}
			}
		}
	}
	l, _ := newLadder(wordsOf(English), groupsOf(loads)[0], loads)
	s, ok := l.step(l.rungs[rungKey{network: "bridge"}], 0)
	if !ok || !s.interval || s.pairs != 10 || s.value.Low < 0.01 || s.value.High > 0.03 {
		t.Errorf("with drift, the bridge adds %+v; without, 2 %%", s)
	}
	cell := l.rungs[rungKey{network: "bridge"}].cells[0]
	cell.Samples = cell.Samples[:7]
	cell.Samples[0].Metrics = map[string]float64{"throughput": 0}
	s, ok = l.step(l.rungs[rungKey{network: "bridge"}], 0)
	if !ok || s.pairs != 6 || s.blocks != 7 || len(s.notes(wordsOf(English))) != 1 {
		t.Errorf("a block without a ratio: %+v, %q", s, s.notes(wordsOf(English)))
	}
}
