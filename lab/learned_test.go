package lab

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// A route names the routing daemon that added it.
func testLearned(t *testing.T) {
	cluster := setUp(t, open(t), pairOf("x"))
	h, far := cluster.Hosts[0], cluster.Hosts[1]
	learned, hole := netip.MustParsePrefix("10.102.0.0/26"), netip.MustParsePrefix("10.101.0.0/26")
	must(t,
		h.links.RouteAdd(&netlink.Route{Dst: ipNet(learned), Gw: far.Addr.AsSlice(), Protocol: unix.RTPROT_BIRD}),
		h.links.RouteAdd(&netlink.Route{Dst: ipNet(hole), Type: unix.RTN_BLACKHOLE, Protocol: unix.RTPROT_BIRD}),
		h.AddRoute(Route{To: far.Subnet(), Via: far.Addr}),
		h.AddBlackhole(h.Subnet()),
		h.SettleCC())
	got, err := h.Learned(unix.RTPROT_BIRD)
	must(t, err)
	if !slices.Equal(got, []netip.Prefix{learned}) {
		t.Errorf("learned %v, want %v alone", got, learned)
	}
	var routes []string
	for _, r := range inspect(t, h.Namespace).Routes {
		routes = append(routes, r.String())
	}
	for _, want := range []string{
		"10.102.0.0/26 via 10.0.0.2 dev eth0 proto bird congctl cubic",
		"blackhole 10.101.0.0/26 proto bird",
		"blackhole 10.101.0.0/16",
	} {
		if !slices.Contains(routes, want) {
			t.Errorf("%q is not among %q", want, routes)
		}
	}
}

// A neighbour is known when it has a MAC address, and not while it is asked for one.
func testResolved(t *testing.T) {
	cluster := setUp(t, open(t), pairOf("x"))
	h, far := cluster.Hosts[0], cluster.Hosts[1]
	nobody := netip.MustParseAddr("10.0.0.77")
	must(t,
		h.AddNeighbour(Device, far.Addr, MAC(far.Addr)),
		h.links.NeighSet(&netlink.Neigh{
			LinkIndex: linkOf(t, h.Namespace, Device).Index, Family: unix.AF_INET, State: netlink.NUD_INCOMPLETE, IP: nobody.AsSlice(),
		}))
	for addr, want := range map[netip.Addr]bool{far.Addr: true, nobody: false, netip.MustParseAddr("10.0.0.78"): false} {
		got, err := h.Resolved(Device, addr)
		must(t, err)
		if got != want {
			t.Errorf("%s is known: %v, want %v", addr, got, want)
		}
	}
}
