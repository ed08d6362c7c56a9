package experiment

import (
	"errors"
	"strings"
	"testing"

	"tare/lab"
	"tare/network"
	"tare/probe"
	"tare/result"
)

// saw is a sighting: "out eth0 in h1", or its reply's.
func saw(way, device, namespace string) lab.Sighting {
	return lab.Sighting{Namespace: namespace, Device: device, Out: strings.HasPrefix(way, "out"), Reply: strings.HasSuffix(way, "reply")}
}

func TestLostAtNamesTheHop(t *testing.T) {
	way := []lab.Sighting{
		saw("out", "eth0", "x.h1/c1"), saw("in", "veth7", "x.h1"), saw("in", "docker0", "x.h1"), saw("out", "eth0", "x.h1"),
		saw("in", "eth0", "x.h2"), saw("out", "veth9", "x.h2"), saw("in", "eth0", "x.h2/c1"),
		saw("out reply", "eth0", "x.h2/c1"), saw("in reply", "veth9", "x.h2"), saw("in reply", "eth0", "x.h1/c1"),
	}
	for seen, want := range map[int]string{
		0:  "lost in x.h1/c1: it left by no device",
		1:  "lost behind eth0 in x.h1/c1 (h1/c1 eth0)",
		3:  "lost behind docker0 in x.h1 (h1/c1 eth0 -> h1 veth7 docker0)",
		5:  "lost behind eth0 in x.h2 (h1/c1 eth0 -> h1 veth7 docker0 eth0 -> h2 eth0)",
		7:  "lost in x.h2/c1: it came in by eth0 and nothing answered",
		9:  "the answer is lost behind veth9 in x.h2 (h2/c1 eth0 -> h2 veth9)",
		10: "every device carried it",
	} {
		if got := lostAt(way[:seen], "x.h1/c1", "x.h2/c1"); !strings.HasPrefix(got, want) {
			t.Errorf("after %d sightings: %q, want %q", seen, got, want)
		}
	}
}

func TestTroubledDevices(t *testing.T) {
	links := func(dropped uint64, up bool) []probe.Inventory {
		return []probe.Inventory{{Namespace: "x.h1", Links: []probe.Link{
			{Name: "tunl0", Kind: "ipip"}, // the kernel's own, in every namespace
			{Name: "eth0", Kind: "veth", Up: up, MTU: 1400, Dropped: dropped},
		}}}
	}
	for _, c := range []struct {
		before, after []probe.Inventory
		size          int
		want          string
	}{
		{links(5, true), links(5, true), 1400, ""},
		{links(5, true), links(5, true), 1401, "; eth0 in x.h1 has mtu 1400"},
		{links(5, true), links(8, true), 53, "; eth0 in x.h1 dropped 3"},
		{links(5, true), links(5, false), 53, "; eth0 in x.h1 is down"},
		{links(5, true), links(0, true), 53, ""}, // another device of that name
	} {
		if got := troubled(c.before, c.after, c.size); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestLabFailedCheckNamesTheSize: the reason includes the size that was tried.
func TestLabFailedCheckNamesTheSize(t *testing.T) {
	plan := loopPlan(t)
	run := newLoopRun(t, plan)
	run.site.fault = func(at string) error {
		if strings.HasPrefix(at, "veth.") {
			return errors.New("no agent")
		}
		return nil
	}
	r, err := newRunner(plan, run.Options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.conductor.close(); err != nil {
			t.Error(err)
		}
	})
	if err := r.checkPaths(t.Context()); err != nil {
		t.Fatal(err)
	}
	for key, cell := range r.recorder.cells {
		if failed := cell.Status == result.StatusFailed; failed != (key.network == "veth") {
			t.Errorf("%s: %s %q", key.network, cell.Status, cell.Reason)
		}
		if key.network == "veth" && !strings.Contains(cell.Reason, "with 1 bytes: no agent") {
			t.Errorf("reason %q", cell.Reason)
		}
	}
}

// A network that turned out without a path is skipped there, before it is
// checked or measured.
func TestLabUnservedPathIsSkipped(t *testing.T) {
	plan := loopPlan(t)
	run := newLoopRun(t, plan)
	for n := range run.Topology.Clusters {
		if u := &run.Topology.Clusters[n]; u.Network == "veth" {
			u.Unserved, u.Paths = []string{network.SameHost}, nil
		}
	}
	res, err := Run(t.Context(), plan, run.Options)
	if err != nil {
		t.Fatal(err)
	}
	if cell := cellOf(t, res, "veth"); cell.Status != result.StatusSkipped || !strings.Contains(cell.Reason, "no such path") || len(cell.Samples) > 0 {
		t.Errorf("%s %q with %d samples", cell.Status, cell.Reason, len(cell.Samples))
	}
	if cell := cellOf(t, res, "bridge"); cell.Status != result.StatusOK || len(cell.Samples) == 0 {
		t.Errorf("the other is %s with %d samples: %s", cell.Status, len(cell.Samples), cell.Reason)
	}
}
