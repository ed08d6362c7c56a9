package kinds_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"tare/catalog"
	"tare/network/kinds"
	"tare/site"
)

// atOnce is how many containers come and go side by side.
const atOnce = 4

// comeAndGo attaches containers, reaches them and removes them, alone and concurrently, and
// holds the hosts to be afterwards as before.
func comeAndGo(t *testing.T, l *site.Lab, b site.Built) {
	for _, path := range comingPaths(b) {
		// What the first one needs may stay: a chain for whatever is published.
		if _, err := l.Attach(t.Context(), b.Name, path); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		before := state(t, l, b)
		var all sync.WaitGroup
		for range atOnce {
			all.Go(func() {
				if _, err := l.Attach(t.Context(), b.Name, path); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			})
		}
		all.Wait()
		if after := state(t, l, b); !slices.Equal(after, before) {
			t.Errorf("%s: there is\n%s\nand was\n%s", path, strings.Join(beyond(after, before), "\n"), strings.Join(beyond(before, after), "\n"))
		}
	}
}

// comingPaths are those on which containers come. Those of real parts are attached
// alike whoever asks: the longest of their paths is enough.
func comingPaths(b site.Built) []string {
	var served []string
	for _, path := range []string{catalog.SameHost, catalog.ContainerToOwnHost, catalog.CrossHost, catalog.PublishedPort} {
		if _, serves := b.Paths[path]; serves {
			served = append(served, path)
		}
	}
	if n, _ := kinds.Find(b.Network); len(n.Needs) > 0 && len(served) > 0 {
		return served[len(served)-1:]
	}
	return served
}

// failedContainerLeavesNothing holds that a container that can't be attached is removed, and
// the next one gets its number.
func failedContainerLeavesNothing(t *testing.T, l *site.Lab) {
	b := built(t, l, "bridge")
	before := state(t, l, b)
	shell(t, l, "bridge.h1", "ip link add veth-c3 type bridge")
	if _, err := l.Attach(t.Context(), b.Name, catalog.SameHost); err == nil || !strings.Contains(err.Error(), "attach bridge.h1/c3: add veth veth-c3") {
		t.Errorf("attaching returns %v", err)
	}
	shell(t, l, "bridge.h1", "ip link del veth-c3")
	if after := state(t, l, b); !slices.Equal(after, before) {
		t.Errorf("there is\n%s\nand was\n%s", strings.Join(beyond(after, before), "\n"), strings.Join(beyond(before, after), "\n"))
	}
	if _, err := l.Attach(t.Context(), b.Name, catalog.SameHost); err != nil {
		t.Error(err)
	}
}

// beyond lists what is in one list and not in the other.
func beyond(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

// counters lists the state of a host's engines and files, in addition to its
// devices, routes and rules.
const counters = `cd /run/tare 2>/dev/null || exit 0
ls /run/netns 2>/dev/null
find . -path '*/networks/*' -name '[0-9]*.*' 2>/dev/null
ls cni/results 2>/dev/null
[ -S docker/docker.sock ] && docker/bin/docker --host unix:///run/tare/docker/docker.sock ps --all --format '{{.Names}}'
[ -S containerd/containerd.sock ] && ctr --address containerd/containerd.sock --namespace k8s.io containers list --quiet
[ -S /run/openvswitch/br0.mgmt ] && ovs-vsctl list-ports br0 && ovs-ofctl -O OpenFlow13 dump-flows --no-stats br0 2>/dev/null
[ -S /run/openvswitch/br-int.mgmt ] && ovs-vsctl list-ports br-int
[ -S /run/ovn/ovnnb_db.sock ] && ovn-nbctl lsp-list containers | cut -d' ' -f2
true`

// state is what a network has added to its hosts and their first containers. What
// the kernel has learned by itself is left out.
func state(t *testing.T, l *site.Lab, b site.Built) []string {
	t.Helper()
	var lines []string
	for _, at := range l.Topology.Namespaces {
		if !strings.HasPrefix(at, b.Name+".") {
			continue
		}
		held, err := l.Look(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		add := func(format string, args ...any) { lines = append(lines, at+" "+fmt.Sprintf(format, args...)) }
		for _, link := range held[0].Links {
			add("%s %s %d %v %s %v", link.Name, link.Kind, link.MTU, link.Up, link.Bridge, link.Addresses)
		}
		for _, route := range held[0].Routes {
			add("%s", route)
		}
		for _, n := range held[0].Neighbours {
			if n.State == "permanent" && !strings.HasPrefix(n.Device, "br") {
				add("%s", n)
			}
		}
		for _, e := range held[0].FDB {
			if e.State == "permanent" && !strings.HasPrefix(e.Device, "br") {
				add("%s", e)
			}
		}
		for _, rules := range held[0].Rules {
			add("%s %s %d", rules.Table, rules.Chain, rules.Rules)
		}
		if os.Geteuid() == 0 && !strings.Contains(at, "/") {
			for line := range strings.Lines(shell(t, l, at, counters)) {
				add("%s", strings.TrimSpace(line))
			}
		}
	}
	slices.Sort(lines)
	return lines
}
