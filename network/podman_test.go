package network_test

import (
	"strings"
	"testing"

	"tare/lab"
	"tare/network"
)

// Containers of Podman are on every path that it serves, started on their host's CPUs, and the
// machine does not notice. Root's are behind netavark's bridge, with the underlay's MTU; those
// as without root have only slirp4netns, and rootlessport at their published ports.
func TestRealPodman(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := buildDocker(t, "podman-bridge", "podman-rootless")
	for _, b := range l.Topology.Clusters {
		if b.Error != "" || b.Missing != "" {
			t.Fatalf("%s: %s%s", b.Name, b.Error, b.Missing)
		}
		if n, _ := network.Find(b.Network); b.Network != network.Baseline {
			for _, path := range n.Paths {
				carries(t, l, b, path, 1500)
			}
		}
	}
	if bridge := shell(t, l, "podman-bridge.h1", "iptables -t nat -S"); !strings.Contains(bridge, "NETAVARK") || !strings.Contains(bridge, "--dport 5210 -j DNAT") {
		t.Errorf("the published port is not netavark's: %s", bridge)
	}
	if got := link(t, l, "podman-bridge.h1/c1", lab.Device); got.Kind != "veth" || got.MTU != 1500 {
		t.Errorf("root's container has a %s with mtu %d, want veth with 1500", got.Kind, got.MTU)
	}
	if got := link(t, l, "podman-rootless.h1/c1", "tap0"); got.Kind != "tuntap" || got.MTU != 65520 {
		t.Errorf("the container without root has a %s with mtu %d, want tuntap with 65520", got.Kind, got.MTU)
	}
	if listening := shell(t, l, "podman-rootless.h1", "ss -ltnpH 'sport = 5210'"); !strings.Contains(listening, "rootlessport") {
		t.Errorf("at the published port is %q, want rootlessport", listening)
	}
	for _, name := range []string{"podman-bridge", "podman-rootless"} {
		const cpus = "grep Cpus_allowed_list /proc/self/status"
		if in, on := shell(t, l, name+".h1/c1", cpus), shell(t, l, name+".h1", cpus); in != on {
			t.Errorf("%s: the container runs on %q, its host on %q", name, in, on)
		}
	}
}
