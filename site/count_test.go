package site_test

import (
	"strings"
	"testing"

	"tare/result"
	"tare/site"
)

// valueOf gives a counter of a place, zero where it did not change.
func valueOf(c site.Counted, at, source, name string) float64 {
	for _, r := range c.Readings {
		if r.At == at && r.Source == source {
			return r.Counts[name]
		}
	}
	return 0
}

// countShowsWhatEachPlaceDid pings through the lab: each place counts its own part, and one
// that was not asked for nothing.
func countShowsWhatEachPlaceDid(t *testing.T, l *site.Lab) {
	places := []string{"bridge.h1/c1", "bridge.h1"}
	stop, err := l.Count(t.Context(), places)
	if err != nil {
		t.Fatal(err)
	}
	if output, status := run(t, l, "bridge.h1/c1", "", "ping -q -c 3 -i 0.01 $(ip -4 route | sed -n 's/default via \\([^ ]*\\).*/\\1/p')"); status != 0 {
		t.Fatal(output)
	}
	counted, err := stop()
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []struct{ at, name string }{
		{"bridge.h1/c1", "Icmp.OutEchos"}, {"bridge.h1", "Icmp.InEchos"}, {"bridge.h1/c1", "Icmp.InEchoReps"},
	} {
		if got := valueOf(counted, place.at, "/proc/net/snmp", place.name); got != 3 {
			t.Errorf("%s: %s counted %v, want 3", place.at, place.name, got)
		}
	}
	if got := valueOf(counted, "bridge.h1/c1", "ip -s -s link", "eth0.tx_packets"); got < 3 {
		t.Errorf("eth0 sent %v packets", got)
	}
	for _, r := range counted.Readings {
		if strings.HasPrefix(r.At, "bridge.h2") {
			t.Errorf("not asked for: %+v", r)
		}
	}
	if _, err := l.Count(t.Context(), []string{"bridge.h9"}); err == nil {
		t.Error("a place that is not there counts")
	}
}

// A place's state is its own: /sys shows its devices.
func statesAreThoseOfThePlace(t *testing.T, l *site.Lab) {
	all, err := l.States(t.Context(), []string{"vxlan.h1", "vxlan.h1/c1"})
	if err != nil {
		t.Fatal(err)
	}
	find := func(at, source string) result.State {
		for _, s := range all.States {
			if s.At == at && s.Source == source {
				return s
			}
		}
		return result.State{}
	}
	if got := find("vxlan.h1", "ip -d link").Values["vxlan0.kind"]; got != "vxlan" {
		t.Errorf("vxlan0 is %v", got)
	}
	if got := find("vxlan.h1/c1", "ip -d link").Values["vxlan0.kind"]; got != nil {
		t.Errorf("the container has the host's vxlan0: %v", got)
	}
	for at, device := range map[string]string{"vxlan.h1": "vxlan0", "vxlan.h1/c1": "eth0"} {
		if _, has := find(at, "/sys/class/net/*/queues").Values[device+".rx-0.rps_cpus"]; !has {
			t.Errorf("%s: no steering of %s: %+v", at, device, find(at, "/sys/class/net/*/queues"))
		}
	}
	if _, err := l.States(t.Context(), []string{"vxlan.h9"}); err == nil {
		t.Error("a place that is not there has a state")
	}
}

// BenchmarkCount reads the counters of both ends and their hosts twice, as is
// done around each window.
func BenchmarkCount(b *testing.B) {
	l, err := site.Start(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			b.Error(err)
		}
	}()
	if err := l.Build(b.Context(), specOf("vxlan")); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		stop, err := l.Count(b.Context(), []string{"vxlan.h1/c1", "vxlan.h1", "vxlan.h2", "vxlan.h2/c1"})
		if err == nil {
			_, err = stop()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
