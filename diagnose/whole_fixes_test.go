package diagnose

import (
	"net/netip"
	"strings"
	"testing"

	"tare/result"
)

// A tunnel's device that is made anew knows the other host, too, which its containers ask for: one fix
// mends every path (rancher's and NSX's port of VXLAN).
func TestATunnelMadeAnewKnowsAllOfItsNeighbours(t *testing.T) {
	e := captured(t, "clean-vxlan")
	for n := range e.Trials {
		e.Trials[n].Error = "no answer in time"
	}
	set(e, "h2", links, "vxlan0.port", 4799.0)
	set(e, "h2", links, "vxlan0.nolearning", true)
	delete(e.state("h2", neighbours), "10.220.4.1 dev vxlan0")
	delete(e.state("h2", fdb), "02:42:0a:dc:04:01 dev vxlan0")
	found := Find(e)
	const anew = "ip neighbour replace 10.220.4.1 lladdr 02:42:0a:dc:04:01 dev vxlan0 nud permanent"
	if len(found) == 0 || found[0].ID != "overlay-stale-vxlan" || strings.Count(found[0].Fix, anew) != 1 ||
		strings.Count(found[0].Fix, "bridge fdb append 02:42:0a:dc:04:01 dev vxlan0 dst 10.0.0.1") != 1 {
		t.Errorf("found %s", sentences(found))
	}
	if again := "ip neighbour replace 10.220.4.2 "; strings.Count(found[0].Fix, again) != 1 {
		t.Errorf("%q is not once in %q", again, found[0].Fix)
	}
}

// A host of a tunnel's network that sends more than the tunnel carries lowers its own device of that
// network, not its interface to the other hosts.
func TestAHostSendsByTheDeviceOfTheNetwork(t *testing.T) {
	e := captured(t, "clean-vxlan")
	e.Client = "h1"
	lost := result.Trial{Workload: "tcp_rr", Size: 1448, Error: "no answer in time", Seen: []result.Sighting{{At: "h1", Device: "br0", Out: true}, {At: "h1", Device: "eth0", Out: true}}}
	e.Trials = []result.Trial{small("tcp_rr", ""), small("udp_rr", ""), lost}
	found := Find(e)
	if len(found) == 0 || !strings.Contains(found[0].Cause, "the network carries 1450") || !strings.Contains(found[0].Fix, "h1 -- ip link set dev br0 mtu 1450") {
		t.Errorf("found %s", sentences(found))
	}
}

// A host that keeps a container's address for itself refuses its packets: nobody learned a wrong link
// address, and no port is published (a virtual address left on lo).
func TestAContainersAddressOnAHost(t *testing.T) {
	e := refused(t, "clean-route")
	e.Trials[1].Error = "connection refused"
	e.Addresses = append(e.Addresses, result.Address{At: "h1", Device: "lo", Prefix: netip.MustParsePrefix("10.102.0.2/32")})
	set(e, "h1", links, "lo.mac", "00:00:00:00:00:00")
	set(e, "h2", neighbours, "10.102.0.2 dev br0", "02:42:0a:66:00:02 reachable")
	for _, f := range Find(e) {
		if f.ID == "wrong-mac" || f.ID == "port-closed" {
			t.Errorf("%s: %s", f.ID, f.Cause)
		}
	}
}
