package experiment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tare/catalog"
	"tare/lab"
	"tare/probe"
	"tare/result"
	"tare/test/labtest"
	"tare/test/simtest"
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

// The reason of a failed check has the size that was tried.
func TestFailedCheckNamesTheSize(t *testing.T) {
	for size, want := range map[int]string{1: "with 1 bytes: ", 1448: "with 1448 bytes: "} {
		simulated(t, func(t *testing.T) {
			plan := simPlan()
			run := newSimRun(t, plan, func(r simtest.Request) simtest.Reply {
				if strings.HasPrefix(r.At, "veth.") && r.Run.Size == size && r.Run.Slots == nil {
					return simtest.Reply{Error: "nothing arrived"}
				}
				return even().Measure(r)
			})
			for _, cell := range run.mustRun(t, plan).Cells {
				labtest.Equal(t, cell.Network+" fails", cell.Status == result.StatusFailed, cell.Network == "veth")
				if cell.Network == "veth" {
					labtest.Contains(t, "reason", cell.Reason, "functional check "+want+"at veth.h1/c2: nothing arrived")
				}
			}
		})
	}
}

// A network that turned out without a path is skipped there, before it is
// checked or measured.
func TestUnservedPathIsSkipped(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		run := newSimRun(t, plan, even().Measure)
		for n := range run.Topology.Clusters {
			if u := &run.Topology.Clusters[n]; u.Network == "veth" {
				u.Unserved, u.Paths = []string{catalog.SameHost}, nil
			}
		}
		res := run.mustRun(t, plan)
		veth, bridge := cellOf(t, res, "veth"), cellOf(t, res, "bridge")
		labtest.Equal(t, "status", veth.Status, result.StatusSkipped)
		labtest.Contains(t, "reason", veth.Reason, "no such path")
		labtest.Equal(t, "samples", len(veth.Samples), 0)
		labtest.Equal(t, "status of the other", bridge.Status, result.StatusOK)
		labtest.Equal(t, "samples of the other", len(bridge.Samples), plan.Blocks)
	})
}

// A mode that a path does not carry is skipped, and is no failure.
func TestUnfitFramesAreSkipped(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		plan.Workloads = []result.WorkloadPlan{{Name: "udp_pps", Mode: "xdp"}}
		plan = Complete(plan)
		run := newSimRun(t, plan, func(r simtest.Request) simtest.Reply {
			if strings.HasPrefix(r.At, "veth.") && r.Workload == "udp_pps" {
				return simtest.Reply{Error: "its device takes no frames", Unfit: true}
			}
			return even().Measure(r)
		})
		veth := cellOf(t, run.mustRun(t, plan), "veth")
		labtest.Equal(t, "status", veth.Status, result.StatusSkipped)
		labtest.Contains(t, "reason", veth.Reason, "its device takes no frames")
	})
}

// Frames that do not arrive in the shortest window are tried once more, in a longer one.
func TestFramesAreTriedOnceMore(t *testing.T) {
	for _, enough := range []time.Duration{200 * time.Millisecond, time.Hour} {
		simulated(t, func(t *testing.T) {
			plan := simPlan()
			plan.Workloads = []result.WorkloadPlan{{Name: "udp_pps", Mode: "xdp"}}
			plan = Complete(plan)
			run := newSimRun(t, plan, func(r simtest.Request) simtest.Reply {
				tried := r.Workload == "udp_pps" && r.Run.Warmup == 0 // what is measured has a warm-up
				if strings.HasPrefix(r.At, "veth.") && tried && r.Run.Duration < enough {
					return simtest.Reply{Error: "nothing arrived"}
				}
				return even().Measure(r)
			})
			veth := cellOf(t, run.mustRun(t, plan), "veth")
			failed := veth.Status == result.StatusFailed
			labtest.Equal(t, fmt.Sprintf("fails where %v are needed", enough), failed, enough == time.Hour)
			labtest.Equal(t, "reason", strings.Contains(veth.Reason, "nothing arrived"), failed)
		})
	}
}

// What a container does not reach outside fails no cell: it is a warning on the numbers.
func TestWayOutThatFailsIsAWarning(t *testing.T) {
	simulated(t, func(t *testing.T) {
		plan := simPlan()
		run := newSimRun(t, plan, func(r simtest.Request) simtest.Reply {
			if r.At == "veth.h2" {
				return simtest.Reply{Error: "nothing arrived"}
			}
			return even().Measure(r)
		})
		for n := range run.Topology.Clusters {
			u := &run.Topology.Clusters[n]
			out := u.Paths[catalog.SameHost]
			out.Server = "h2"
			u.Outside = &out
		}
		for _, cell := range run.mustRun(t, plan).Cells {
			labtest.Equal(t, cell.Network+": status", cell.Status, result.StatusOK)
			warned := strings.Join(cell.Metrics[0].Warnings, "; ")
			labtest.Equal(t, cell.Network+" is warned of", strings.Contains(warned, "outside: a container does not reach the other host: "), cell.Network == "veth")
		}
	})
}
