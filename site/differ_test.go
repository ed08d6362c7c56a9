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

// What the two machines do not have in common is said, and nothing of one machine.
func TestMachinesThatDiffer(t *testing.T) {
	seen := func(mtu int, address string) probe.Inventory {
		return probe.Inventory{Links: []probe.Link{{Name: "eth0", MTU: mtu, Up: true, Addresses: []netip.Prefix{netip.MustParsePrefix(address)}}}}
	}
	held := map[string]probe.Inventory{"h1": seen(9000, "10.0.0.1/24"), "h2": seen(1500, "10.0.0.2/24")}
	between := network.Ends{Client: "h1", Server: "h2", Dial: netip.MustParseAddr("10.0.0.2")}
	env := result.Environment{Kernel: "6.1", CPUModel: "A", CPUs: 2, Virtualisation: "kvm", Clocksource: "tsc"}
	other := env
	other.Kernel, other.CPUs = "6.12", 4
	places := []result.Place{{Name: "h1", Boot: "a", Environment: env}, {Name: "h2", Boot: "b", Environment: other}}
	labtest.Equal(t, "differences", strings.Join(differences(places, between, held), "; "),
		"h1 and h2 differ: kernel 6.1 and 6.12; h1 and h2 differ: CPUs 2 and 4; h1 and h2 differ: MTU of the way to the other 9000 and 1500")
	places[1].Boot = "a"
	labtest.Equal(t, "differences of one machine", len(differences(places, between, held)), 0)
	labtest.Equal(t, "differences without a second", len(differences(places[:1], between, held)), 0)
	labtest.Equal(t, "an address beyond a gateway", mtuToward(netip.MustParseAddr("192.0.2.1"), held["h1"]), "")
}
