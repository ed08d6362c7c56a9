package experiment

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tare/lab"
	"tare/network"
	"tare/result"
)

// namespace is one with these devices, "name" or "name:kind", all up.
func namespace(name string, devices ...string) lab.Laid {
	laid := lab.Laid{Namespace: name}
	for _, d := range devices {
		device, kind, _ := strings.Cut(d, ":")
		laid.Links = append(laid.Links, lab.LaidLink{Name: device, Kind: kind, Up: true})
	}
	return laid
}

func TestHopsInTheOrderOfAPacket(t *testing.T) {
	across := network.Ends{Client: "h1/c1", Server: "h2/c1"}
	inside := network.Ends{Client: "h1/c1", Server: "h1/c2"}
	host := namespace("vxlan.h1", "lo", lab.Device, "vxlan0:vxlan", "br0:bridge", "veth-c1:veth", "veth-c2:veth")
	for _, test := range []struct {
		laid lab.Laid
		at   string
		ends network.Ends
		want string
	}{
		{namespace("vxlan.h1/c1", "lo", lab.Device), "h1/c1", across, lab.Device},
		{host, "h1/c1", across, "veth-c1 br0 vxlan0 " + lab.Device},
		{host, "h1/c1", inside, "veth-c1 br0"},
		{host, "h1", across, "br0 vxlan0 " + lab.Device},
	} {
		var got []string
		for _, h := range hopsOf(test.laid, test.at, within(test.ends)) {
			got = append(got, h.device)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s from %s: %q, want %q", test.laid.Namespace, test.at, got, test.want)
		}
	}
}

func TestContainersOfAPodTalkOverItsLoopback(t *testing.T) {
	got := loopbackOf([]lab.Laid{namespace("x.h1/c1", "lo", lab.Device)})
	if len(got) != 1 || got[0].device != "lo" {
		t.Errorf("hops %+v", got)
	}
}

func TestLostAtNamesTheHop(t *testing.T) {
	hops := func(carried ...uint64) []hop {
		var all []hop
		for n, bytes := range carried {
			all = append(all, hop{namespace: "h1", device: fmt.Sprint("d", n), up: true, tx: bytes})
		}
		return all
	}
	down := hops(2000, 2000)
	down[1].up = false
	for name, test := range map[string]struct {
		after []hop
		want  string
	}{
		"at the first":  {hops(0, 0, 0), "lost at d0 in h1: nothing went through it"},
		"in the middle": {hops(2000, 2000, 90), "lost at d2 in h1: d1 in h1 still carried it"},
		"nowhere":       {hops(2000, 2000), "every hop carried it"},
		"a device down": {down, "lost at d1 in h1: it is down"},
		"one is gone":   {hops(2000), "changed meanwhile"},
	} {
		before := make([]hop, max(len(test.after), 2))
		if got := lostAt(before, test.after, 1448); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q does not say %q", name, got, test.want)
		}
	}
}

// TestFailedCheckSaysWhere holds that the reason names the sizes tried and the
// hop.
func TestFailedCheckSaysWhere(t *testing.T) {
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
	defer r.stat.Close()
	if err := r.checkPaths(t.Context()); err != nil {
		t.Fatal(err)
	}
	for key, cell := range r.cells {
		if failed := cell.Status == result.StatusFailed; failed != (key.network == "veth") {
			t.Errorf("%s: %s %q", key.network, cell.Status, cell.Reason)
		}
		if key.network == "veth" && (!strings.Contains(cell.Reason, "with 1 bytes: no agent") || !strings.Contains(cell.Reason, "lost at "+lab.Device)) {
			t.Errorf("reason %q", cell.Reason)
		}
	}
}
