package site

import (
	"net/netip"
	"strings"
	"testing"

	"tare/network"
	"tare/probe"
	"tare/result"
	"tare/test/labtest"
)

// What two hosts do not have in common is said, where it is known of both.
func TestHostsThatDiffer(t *testing.T) {
	env := result.Environment{Kernel: "6.1", CPUModel: "A", CPUs: 2, Virtualisation: "kvm", Clocksource: "tsc"}
	state := func(device string, gro bool, window string) []result.State {
		return []result.State{
			{Source: "ethtool -k", Values: map[string]any{device + ".rx-gro": gro, "docker0.rx-gro": true}},
			{Source: "/proc/sys/net", Values: map[string]any{"ipv4/tcp_rmem": window, "ipv4/tcp_congestion_control": device, "ipv4/conf/" + device + "/rp_filter": window}},
		}
	}
	link := func(name, address string, mtu int, nic probe.NIC) probe.Link {
		return probe.Link{Name: name, MTU: mtu, Up: true, Addresses: []netip.Prefix{netip.MustParsePrefix(address)}, NIC: nic}
	}
	h1 := host{env, link("eth0", "10.0.0.1/24", 9000, probe.NIC{Driver: "ixgbe", Rate: 1e10, Queues: 8}), state("eth0", true, "1 2 3")}
	env.Kernel, env.CPUs = "6.12", 4
	h2 := host{env, link("eno1", "10.0.0.2/24", 1500, probe.NIC{Driver: "igb", Rate: 1e9}), state("eno1", false, "1 2 4")}
	var want []string
	for _, what := range []string{
		"kernel 6.1 and 6.12", "CPUs 2 and 4", "MTU of the way to the other 9000 and 1500", "driver of the interface ixgbe and igb",
		"rate of the interface in bit/s 10000000000 and 1000000000", "ipv4/tcp_rmem 1 2 3 and 1 2 4", "rx-gro true and false",
	} {
		want = append(want, "h1 and h2 differ: "+what)
	}
	labtest.Equal(t, "differences", strings.Join(differences(h1, h2), "; "), strings.Join(want, "; "))
	labtest.Equal(t, "differences of a host and itself", len(differences(h1, h1)), 0)

	between := network.Ends{Client: "h1", Server: "h2", Dial: netip.MustParseAddr("10.0.0.2")}
	held := map[string]probe.Inventory{"h1": {Links: []probe.Link{h1.on}}, "h2": {Links: []probe.Link{h2.on}}}
	labtest.Equal(t, "rate of the link in bit/s", linkRate(between, held), 1e9)
	labtest.Equal(t, "rate of a link with an end that is not known", linkRate(between, map[string]probe.Inventory{"h1": held["h1"]}), 0)
	labtest.Equal(t, "interface toward an address beyond a gateway", toward(netip.MustParseAddr("192.0.2.1"), held["h1"]).Name, "")
}
