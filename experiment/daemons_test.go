package experiment

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tare/lab"
	"tare/result"
	"tare/site"
	"tare/test/labtest"
)

// TestIdleDaemonsAreCounted: what a run's own network and its engine use is not
// noise; what others use is, by program.
func TestIdleDaemonsAreCounted(t *testing.T) {
	d := daemonsOf(nil, site.Topology{Clusters: []site.Built{
		{ClusterSpec: site.ClusterSpec{Name: "docker-nat"}, Engine: "engine-docker-host"}, {ClusterSpec: site.ClusterSpec{Name: "bgp"}},
	}})
	ms := func(engine, other, bird, gone time.Duration) []lab.Usage {
		return []lab.Usage{
			{Cluster: "engine-docker-host", Name: "dockerd", CPU: engine * time.Millisecond},
			{Cluster: "engine-docker-proxy", Name: "dockerd", CPU: other * time.Millisecond},
			{Cluster: "bgp", Name: "bird", CPU: bird * time.Millisecond},
			{Cluster: "", Name: "runc", CPU: gone * time.Millisecond},
		}
	}
	d.add("docker-nat", ms(0, 0, 0, 9), ms(500, 2, 3, 0), time.Second)   // the engine is its own
	d.add("bgp", ms(500, 2, 3, 0), ms(510, 2, 900, 10), time.Second)     // bird is its own
	d.add("host", ms(510, 2, 900, 10), ms(510, 2, 900, 10), time.Second) // all idle
	d.add("host", nil, ms(9999, 9999, 9999, 9999), time.Second)          // not read
	d.add("host", ms(1, 1, 1, 1)[:1], ms(1, 900, 900, 900), time.Second) // started meanwhile
	got := d.result()
	if got == nil || !near(got.CPU, 0.025/4, 1e-9) || !near(got.Most, 0.020, 1e-9) {
		t.Fatalf("%+v", got)
	}
	for name, want := range map[string]float64{"dockerd": 0.012 / 4, "bird": 0.003 / 4, "runc": 0.010 / 4} {
		if !near(got.Each[name], want, 1e-9) {
			t.Errorf("%s used %v, want %v", name, got.Each[name], want)
		}
	}
	if none := (&daemons{}).result(); none != nil {
		t.Errorf("without a reading: %+v", none)
	}
}

// TestBusyDaemonsAreAWarning: every number that they affect has the warning.
func TestBusyDaemonsAreAWarning(t *testing.T) {
	for busy, want := range map[time.Duration]bool{100 * time.Millisecond: true, 10 * time.Millisecond: false} {
		r := synthetic(t, vxlanPlan("tcp_rr"))
		feed(r, 6, noisy(1, "rtt_p50", 1, 0.01, 1))
		d := daemonsOf(nil, site.Topology{})
		d.add("host", []lab.Usage{{Name: "bird"}}, []lab.Usage{{Name: "bird", CPU: busy}}, time.Second)
		r.disturbed(d.result(), nil, nil)
		r.weigh()
		warned := slices.ContainsFunc(weighed(t, r, "vxlan", "rtt_p50").Warnings, func(w string) bool { return strings.HasPrefix(w, "daemons: ") })
		if warned != want || r.res.Noise.Daemons == nil {
			t.Errorf("%v of a second: warned %t, want %t; %+v", busy, warned, want, r.res.Noise.Daemons)
		}
	}
}

// How long the lab took to build, and its memory.
func TestLabsCostIsInTheResult(t *testing.T) {
	env := environmentOf(site.Topology{Up: 1.5, Memory: 7 << 20, Places: []result.Place{{}}})
	labtest.Equal(t, "time", env.LabUp, 1.5)
	labtest.Equal(t, "memory", env.LabMemoryBytes, 7<<20)
}
