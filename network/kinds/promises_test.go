package kinds_test

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"tare/catalog"
	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/site"
	"tare/wire"
	"tare/workload"
)

// Headers of a datagram that fills a packet.
const udpHeaders = wire.IPv4Header + wire.UDPHeader

// family names the networks that one lab of these tests has, most of them for a daemon that
// they have in common. "other" are those that each need something else, which the
// machine may lack.
func family(n network.Network) string {
	first, _, _ := strings.Cut(n.Name, "-")
	switch {
	case len(n.Needs) == 0, n.Name == "tun-udp":
		return "kernel" // an ordinary user has them too, or may have
	case n.Runtime != "":
		return n.Runtime
	case n.Facts.RelaysTAP():
		return "rootless"
	case slices.Contains([]string{"bgp", "cni", "flannel", "mesh", "ovn", "ovs", "service"}, first):
		return first
	case slices.Contains(tagged(), n.Name):
		return "vlan"
	}
	return "other"
}

// ofFamily are the networks of a family.
func ofFamily(name string) []network.Network {
	return slices.DeleteFunc(kinds.All(), func(n network.Network) bool { return family(n) != name })
}

// clusters are those of a family's networks, and others of the same with IPv6, where they
// have it.
func clusters(name string) []site.ClusterSpec {
	var all []site.ClusterSpec
	for _, n := range ofFamily(name) {
		all = append(all, on(n.Name))
		if n.IPv6 {
			six := overVersion6(on(n.Name))
			six.Name += "6"
			all = append(all, six)
		}
	}
	return all
}

// change gives a cluster of several, by name, another form.
func change(all []site.ClusterSpec, name string, to func(spec *site.ClusterSpec)) {
	to(&all[slices.IndexFunc(all, func(spec site.ClusterSpec) bool { return spec.Name == name })])
}

// with is a cluster under its own name, and a network with a parameter.
func with(name, of, param, value string) site.ClusterSpec {
	spec := on(of)
	spec.Name = name
	if param != "" {
		spec.Params = map[string]string{param: value}
	}
	return spec
}

// overVersion6 is the same cluster with IPv6, which it is measured over.
func overVersion6(spec site.ClusterSpec) site.ClusterSpec {
	spec.Axes = maps.Clone(spec.Axes)
	spec.Axes["ip"] = 6.0
	return spec
}

// keepPromises holds the networks of a lab to what every network promises. It leaves the
// hosts as they were.
func keepPromises(t *testing.T, l *site.Lab) {
	for _, b := range l.Topology.Clusters {
		if b.Error != "" {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			n, _ := kinds.Find(b.Network)
			carriesOnEveryPath(t, l, n, b)
			isConfined(t, l, n, b)
			if b.Axes.Count("ip") == 6 {
				filtersBothVersions(t, l, b)
				return
			}
			reachesTheThird(t, l, n, b)
			if n.Runtime != "" && b.Name != n.Name { // its engine does the same whatever the parameters
				return
			}
			if _, served := b.Paths[catalog.PublishedPort]; served && n.Name != catalog.Baseline {
				publishes(t, l, b)
			}
			if !n.Sandboxed { // TestRealGvisor holds it to refuse
				comeAndGo(t, l, b)
			}
		})
	}
}

// carriesOnEveryPath sends on each path, with what fits into the network's packets.
func carriesOnEveryPath(t *testing.T, l *site.Lab, n network.Network, b site.Built) {
	t.Helper()
	mtu := wire.InnerMTU(1500, n.Stack)
	for _, path := range n.Paths {
		ends, served := b.Paths[path]
		if listed := slices.Contains(b.Unserved, path); served == listed && b.Containers > 1 {
			t.Errorf("%s is served: %t, and listed as not served: %t", path, served, listed)
		}
		// A container on a macvlan does not reach its own host, which tare does not know of a
		// list of somebody's.
		if !served || b.Name == "cni-macvlan" && path == catalog.ContainerToOwnHost {
			continue
		}
		if six := wire.IPOf(ends.Dial) == wire.IPv6; six != (b.Axes.Count("ip") == 6) {
			t.Errorf("%s is measured at %s", path, ends.Dial)
		}
		carries(t, l, b, path, mtu)
	}
	if n.Name == catalog.Baseline || n.Facts.RelaysTAP() { // there is no container, or a relay has its device
		return
	}
	for _, at := range []string{"h1/c1", "h1/c2", "h2/c1", "h2/c2"} {
		if slices.Contains(l.Topology.Namespaces, b.Name+"."+at) {
			if got := link(t, l, b.Name+"."+at, lab.Device).MTU; got != mtu {
				t.Errorf("MTU at %s is %d, want %d", at, got, mtu)
			}
		}
	}
}

// carries sends the smallest and the largest packets both ways.
func carries(t *testing.T, l *site.Lab, b site.Built, path string, mtu int) {
	t.Helper()
	for _, c := range []struct {
		workload string
		size     int
	}{
		{"tcp_rr", 1},
		{"tcp_rr", 10 * mtu}, // many full segments each way
		{"udp_rr", 64},
		{"udp_rr", mtu - wire.IPOf(b.Paths[path].Dial).Header() - wire.UDPHeader},
	} {
		out := measure(t, l, b, path, c.workload, workload.Run{Size: c.size})
		if c.workload == "tcp_rr" && (out.Server.CC != "cubic" || out.Client.CC != "cubic") {
			t.Errorf("%s of %s: congestion control %q at the server, %q at the client", path, b.Name, out.Server.CC, out.Client.CC)
		}
	}
}

// transactions does runs until they were at least so many, and returns their number.
func transactions(t *testing.T, l *site.Lab, b site.Built, path, name string, size int, least float64) float64 {
	t.Helper()
	var done float64
	for done < least {
		done += measure(t, l, b, path, name, workload.Run{Size: size}).Client.Work
	}
	return done
}

// isConfined holds what a runtime starts in a container to its host's CPUs, and Docker to its
// filter of system calls.
func isConfined(t *testing.T, l *site.Lab, n network.Network, b site.Built) {
	t.Helper()
	if n.Runtime == "" || n.Sandboxed {
		return
	}
	for _, at := range []string{"h1/c1", "h1/c2", "h2/c1", "h2/c2"} {
		agent, err := l.Agent(t.Context(), b.Name+"."+at, "client")
		if err != nil {
			t.Fatal(err)
		}
		if host := catalog.HostOf(at); agent.CPUs != b.CPUs[host] {
			t.Errorf("%s may use CPUs %s, its host %s", at, agent.CPUs, b.CPUs[host])
		}
		if n.Runtime == "docker" && agent.Seccomp != "filter" {
			t.Errorf("%s: seccomp %s", at, agent.Seccomp)
		}
	}
}

// filtersBothVersions holds that bridged packets of both versions pass rules, or none do.
func filtersBothVersions(t *testing.T, l *site.Lab, b site.Built) {
	t.Helper()
	out, _, err := exec(t.Context(), l, b.Name+".h1", "sh", "-c", "cd /proc/sys/net/bridge 2>/dev/null && cat bridge-nf-call-iptables bridge-nf-call-ip6tables")
	if both := strings.Fields(out); err != nil || len(both) == 2 && both[0] != both[1] {
		t.Errorf("bridge-nf-call-iptables and -ip6tables are %q, %v", both, err)
	}
}

// reachesTheThird holds that containers of a third host are reached from both others, under
// the clients' own addresses.
func reachesTheThird(t *testing.T, l *site.Lab, n network.Network, b site.Built) {
	t.Helper()
	if b.Hosts < 3 || !n.Serves(catalog.CrossHost) || n.Name == catalog.Baseline {
		return
	}
	third := b.Name + ".h3/c2"
	address := netip.AddrPortFrom(link(t, l, third, lab.Device).Addresses[0].Addr(), 99).String()
	for _, client := range []string{b.Name + ".h1/c1", b.Name + ".h2/c1"} {
		want := link(t, l, client, lab.Device).Addresses[0].Addr().String()
		if got := seenAs(t, l, client, address, third, address); got != want {
			t.Errorf("h3/c2 sees %s as %s, want %s", client, got, want)
		}
	}
}

// publishes holds that each server's port leads to the first container of a host, and the one
// that nothing publishes leads nowhere. A network that declares that servers which speak first
// are not reached carries nothing until the client has sent something; all others do.
func publishes(t *testing.T, l *site.Lab, b site.Built) {
	t.Helper()
	ends, as := b.Paths[catalog.PublishedPort], "call"
	if b.Mute != "" {
		as = "speak"
	}
	client, server := b.Name+"."+ends.Client, b.Name+"."+ends.Server
	at := func(addr netip.Addr, port uint16) string { return netip.AddrPortFrom(addr, port).String() }
	for _, port := range network.ServerPorts() {
		answered(t, l, as, client, at(ends.Dial, port), server, at(ends.Bind, port))
	}
	for _, port := range network.UDPServerPorts() {
		datagramAnswered(t, l, client, at(ends.Dial, port), server, at(ends.Bind, port))
	}
	closed := at(ends.Dial, network.OutsidePort)
	if _, status, err := exec(t.Context(), l, client, "/proc/self/exe", "refused", closed); err != nil || status != 0 {
		t.Errorf("somebody is at %s: status %d, %v", closed, status, err)
	}
}
