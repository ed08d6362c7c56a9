package kinds_test

import (
	"strings"
	"testing"

	"tare/lab"
)

// Containers of Podman are on every path that it serves, started on their host's CPUs. Root's are
// behind netavark's bridge, with the underlay's MTU; those as without root have only slirp4netns,
// and rootlessport at their published ports.
func TestRealPodman(t *testing.T) {
	if !asRoot(t) {
		return
	}
	l := build(t, clusters("podman")...)
	keepPromises(t, l)
	t.Run("root's are behind netavark", func(t *testing.T) {
		if rules := shell(t, l, "podman-bridge.h1", "iptables -t nat -S"); !strings.Contains(rules, "NETAVARK") || !strings.Contains(rules, "--dport 5210 -j DNAT") {
			t.Errorf("the published port is not netavark's: %s", rules)
		}
		if got := link(t, l, "podman-bridge.h1/c1", lab.Device); got.Kind != "veth" || got.MTU != 1500 {
			t.Errorf("root's container has a %s with mtu %d, want veth with 1500", got.Kind, got.MTU)
		}
	})
	t.Run("those without root are behind slirp4netns", func(t *testing.T) {
		if got := link(t, l, "podman-rootless.h1/c1", "tap0"); got.Kind != "tuntap" || got.MTU != 65520 {
			t.Errorf("the container without root has a %s with mtu %d, want tuntap with 65520", got.Kind, got.MTU)
		}
		if listening := shell(t, l, "podman-rootless.h1", "ss -ltnpH 'sport = 5210'"); !strings.Contains(listening, "rootlessport") {
			t.Errorf("at the published port is %q, want rootlessport", listening)
		}
	})
	t.Run("they run on their host's CPUs", func(t *testing.T) {
		for _, n := range ofFamily("podman") {
			const cpus = "grep Cpus_allowed_list /proc/self/status"
			if in, on := shell(t, l, n.Name+".h1/c1", cpus), shell(t, l, n.Name+".h1", cpus); in != on {
				t.Errorf("%s: the container runs on %q, its host on %q", n.Name, in, on)
			}
		}
	})
}
