package network_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"tare/network"
	"tare/site"
)

// atOnce is how many containers come and go side by side.
const atOnce = 4

// On every network that can be set up here a container is attached, reached and
// removed, alone and concurrently, and the hosts are afterwards as before.
func TestRealContainersComeAndGo(t *testing.T) {
	var kernel, parts, docker []site.ClusterSpec
	var labs [][]site.ClusterSpec
	for _, n := range network.All() {
		switch {
		case n.Name == "sr-iov": // its functions are a user's to name
		case n.Sandboxed: // TestRealGvisor holds it to refuse
		case n.Engine.Name != "":
			docker = append(docker, on(n.Name))
		case n.Runtime.Name != "":
			labs = append(labs, []site.ClusterSpec{on(n.Name)})
		case len(n.Needs) == 0:
			kernel = append(kernel, on(n.Name))
		default:
			parts = append(parts, on(n.Name))
		}
	}
	explicit := on("ovs-vxlan")
	explicit.Name, explicit.Params = "explicit", map[string]string{network.Openflow: "explicit"}
	policies := on("bgp")
	policies.Name, policies.Params = "policies", map[string]string{"policies": "2", "router": "frr"}
	full := on("bgp") // the next container needs a block that no host has announced
	full.Name, full.Containers = "full", 62
	for _, clusters := range append(labs, kernel, docker, append(parts, explicit, policies, full)) {
		t.Run("with_"+clusters[0].Name, func(t *testing.T) {
			l := tryBuild(t, clusters...)
			for _, b := range l.Topology.Clusters {
				switch {
				case b.Missing != "" && b.Network != "cni": // test/everything lists which may be missing
				case b.Error != "":
					t.Errorf("%s: %s", b.Name, b.Error)
				default:
					t.Run(b.Name, func(t *testing.T) { comeAndGo(t, l, b) })
				}
			}
		})
	}
}

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
	for _, path := range []string{network.SameHost, network.ContainerToOwnHost, network.CrossHost, network.PublishedPort} {
		if _, serves := b.Paths[path]; serves {
			served = append(served, path)
		}
	}
	if n, _ := network.Find(b.Network); len(n.Needs) > 0 && len(served) > 0 {
		return served[len(served)-1:]
	}
	return served
}

// A container that can't be attached is removed, and the next one gets its number.
func TestRealContainerThatFailsLeavesNothing(t *testing.T) {
	l := build(t, on("bridge"))
	b := built(t, l, "bridge")
	before := state(t, l, b)
	if _, status, err := exec(t.Context(), l, "h1", "ip", "link", "add", "veth-c3", "type", "bridge"); err != nil || status != 0 {
		t.Fatalf("take the device's name: status %d, %v", status, err)
	}
	if _, err := l.Attach(t.Context(), b.Name, network.SameHost); err == nil || !strings.Contains(err.Error(), "attach bridge.h1/c3: add veth veth-c3") {
		t.Errorf("attaching returns %v", err)
	}
	if _, status, err := exec(t.Context(), l, "h1", "ip", "link", "del", "veth-c3"); err != nil || status != 0 {
		t.Fatalf("give the device's name back: status %d, %v", status, err)
	}
	if after := state(t, l, b); !slices.Equal(after, before) {
		t.Errorf("there is\n%s\nand was\n%s", strings.Join(beyond(after, before), "\n"), strings.Join(beyond(before, after), "\n"))
	}
	if _, err := l.Attach(t.Context(), b.Name, network.SameHost); err != nil {
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
	all := slices.Clone(l.Topology.Namespaces)
	var lines []string
	for _, at := range all {
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
