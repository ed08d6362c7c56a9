package network_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tare/network"
	"tare/site"
	"tare/wire"
	"tare/workload"
)

// Headers of a datagram that fills a packet.
const udpHeaders = wire.IPv4Header + wire.UDPHeader

// ofTheKernel are the networks that need no real part but the kernel: those
// that an ordinary user has too.
func ofTheKernel() []network.Network {
	return slices.DeleteFunc(network.All(), func(n network.Network) bool { return len(n.Needs) > 0 })
}

func TestLabUserEveryPathCarriesTraffic(t *testing.T) {
	for _, n := range ofTheKernel() {
		t.Run(n.Name, func(t *testing.T) {
			l := build(t, on(n.Name))
			b := built(t, l, n.Name)
			for _, path := range n.Paths {
				carries(t, l, b, path, wire.InnerMTU(1500, n.Stack))
			}
			if n.Name == network.Baseline {
				return
			}
			for _, at := range []string{"h1/c1", "h1/c2", "h2/c1", "h2/c2"} {
				if got := link(t, l, at, "eth0").MTU; got != wire.InnerMTU(1500, n.Stack) {
					t.Errorf("MTU at %s is %d, want %d", at, got, wire.InnerMTU(1500, n.Stack))
				}
			}
		})
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
		if out.Client.Work <= 0 {
			t.Errorf("%s on %s of %s, %d bytes: no transaction", c.workload, path, b.Name, c.size)
		}
		if c.workload == "tcp_rr" && (out.Server.CC != "cubic" || out.Client.CC != "cubic") {
			t.Errorf("%s of %s: congestion control %q at the server, %q at the client", path, b.Name, out.Server.CC, out.Client.CC)
		}
	}
}

// overIPv6 builds those of the networks that have IPv6, and sends on each of their paths.
func overIPv6(t *testing.T, networks []network.Network) {
	t.Helper()
	var all []site.ClusterSpec
	networks = slices.DeleteFunc(networks, func(n network.Network) bool { return !n.IPv6 })
	for _, n := range networks {
		spec := on(n.Name)
		spec.IP = wire.IPv6
		all = append(all, spec)
	}
	l := build(t, all...)
	for _, n := range networks {
		b := built(t, l, n.Name)
		// Bridged packets of both versions pass rules, or none do.
		out, _, err := exec(t.Context(), l, n.Name+".h1", "sh", "-c", "cd /proc/sys/net/bridge 2>/dev/null && cat bridge-nf-call-iptables bridge-nf-call-ip6tables")
		if both := strings.Fields(string(out)); err != nil || len(both) == 2 && both[0] != both[1] {
			t.Errorf("%s: bridge-nf-call-iptables and -ip6tables are %q, %v", n.Name, both, err)
		}
		for _, path := range n.Paths {
			if slices.Contains(b.Unserved, path) {
				continue
			}
			if dial := b.Paths[path].Dial; wire.IPOf(dial) != wire.IPv6 {
				t.Errorf("%s of %s is measured at %s", path, n.Name, dial)
			}
			carries(t, l, b, path, wire.InnerMTU(1500, n.Stack))
		}
	}
}

// TestLabUserIPv6 sends over IPv6 on every path of the networks that have it.
func TestLabUserIPv6(t *testing.T) { overIPv6(t, ofTheKernel()) }

// TestRealIPv6 does so with those of real parts that this kernel has.
func TestRealIPv6(t *testing.T) {
	if !asRoot(t) {
		return
	}
	var real []network.Network
	for _, name := range []string{"ovs", "ovs-vlan", "ovs-vxlan", "ovn", "wireguard-go", "service-iptables", "service-nftables", "ebpf-redirect",
		"docker-host", "docker-bridge", "docker-nat", "docker-macvlan", "docker-proxy", "containerd-bridge", "cni", "podman-bridge", "bgp", "bgp-rr", "flannel-host-gw", "pasta"} {
		n, _ := network.Find(name)
		real = append(real, n)
	}
	overIPv6(t, real)
}

func TestLabUserNineNetworksAtOnce(t *testing.T) {
	var all []site.ClusterSpec
	for _, n := range ofTheKernel() {
		all = append(all, on(n.Name))
	}
	l := build(t, all...)
	for _, n := range ofTheKernel() {
		for _, path := range n.Paths {
			if measure(t, l, built(t, l, n.Name), path, "tcp_rr", workload.Run{Size: 1}).Client.Work <= 0 {
				t.Errorf("%s of %s: no transaction", path, n.Name)
			}
		}
	}
}

func TestLabUserThreeHosts(t *testing.T) {
	var all []site.ClusterSpec
	for _, name := range []string{"route", "ptp", "vxlan", "macvlan"} {
		spec := on(name)
		spec.Hosts = 3
		all = append(all, spec)
	}
	l := build(t, all...)
	for _, spec := range all {
		n, _ := network.Find(spec.Network)
		for _, path := range n.Paths {
			carries(t, l, built(t, l, spec.Name), path, wire.InnerMTU(1500, n.Stack))
		}
		// The third host is reached from both others.
		server := spec.Name + ".h3/c2"
		address := link(t, l, server, "eth0").Addresses[0].Addr().String()
		for _, client := range []string{".h1/c1", ".h2/c1"} {
			want := link(t, l, spec.Name+client, "eth0").Addresses[0].Addr().String()
			if got := seenAs(t, l, spec.Name+client, address+":99", server, address+":99"); got != want {
				t.Errorf("%s sees %s%s as %s, want %s", server, spec.Name, client, got, want)
			}
		}
	}
}

// linkTries is how often a machine that does other work may leave a link idle.
const linkTries = 3

// No run passes more than the link carries, and one of a few fills it.
func TestLabUserLinkLimits(t *testing.T) {
	const rate = 100e6
	spec := on("route")
	spec.Link = rate
	l := build(t, spec)
	ceiling := rate * (1500 - 52) / 1538
	for n := range linkTries {
		out := measure(t, l, built(t, l, "route"), network.CrossHost, "tcp_stream",
			workload.Run{Size: 128 << 10, Warmup: 300 * time.Millisecond, Duration: 700 * time.Millisecond})
		got := out.Server.Metrics["throughput"] + out.Client.Metrics["throughput"] // one end measures it
		if got > 1.01*ceiling {
			t.Fatalf("%.1f Mbit/s pass a link of 100; its ceiling is %.1f", got/1e6, ceiling/1e6)
		}
		if got > 0.7*ceiling {
			return
		}
		t.Logf("run %d of %d: %.1f Mbit/s pass a link whose ceiling is %.1f", n+1, linkTries, got/1e6, ceiling/1e6)
	}
	t.Errorf("none of %d runs filled the link", linkTries)
}

func TestLabUserFailureLeavesTheOthers(t *testing.T) {
	absurd, half, much := on("bridge"), on("vxlan"), on("macvlan")
	absurd.MTU = 1 << 20
	half.MTU = 100 // the hosts are made, the containers' MTU of 50 is refused
	much.Containers = 1001
	l := tryBuild(t, on("veth"), absurd, half, much, on("route"))
	for name, want := range map[string]string{"bridge": "build cluster bridge", "vxlan": "set up network vxlan", "macvlan": "1000, the most"} {
		if got := built(t, l, name).Error; !strings.Contains(got, want) {
			t.Errorf("%s failed with %q, want %q", name, got, want)
		}
	}
	for _, at := range l.Topology.Namespaces {
		if !strings.HasPrefix(at, "veth.") && !strings.HasPrefix(at, "route.") {
			t.Errorf("%s exists although its network failed", at)
		}
	}
	if _, err := l.Look(t.Context(), "vxlan.h1"); err == nil {
		t.Error("a host of a network that failed is there")
	}
	measure(t, l, built(t, l, "veth"), network.SameHost, "tcp_rr", workload.Run{Size: 1})
	measure(t, l, built(t, l, "route"), network.CrossHost, "tcp_rr", workload.Run{Size: 1})
}
