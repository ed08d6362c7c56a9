package result

import (
	"net/netip"
	"testing"
)

func TestRouteText(t *testing.T) {
	to, via := netip.MustParsePrefix("10.102.0.0/26"), netip.MustParseAddr("10.0.0.2")
	for _, c := range []struct {
		route     Route
		text, way string
	}{
		{Route{To: to, Device: "br0"}, "10.102.0.0/26 dev br0", "dev br0"},
		{
			Route{To: netip.MustParsePrefix("0.0.0.0/0"), Via: via, Device: "eth0", CC: "cubic"},
			"default via 10.0.0.2 dev eth0 congctl cubic", "via 10.0.0.2 dev eth0 congctl cubic",
		},
		{
			Route{To: to, Via: via, Device: "eth0", Protocol: "bird", CC: "bbr"},
			"10.102.0.0/26 via 10.0.0.2 dev eth0 proto bird congctl bbr", "via 10.0.0.2 dev eth0 proto bird congctl bbr",
		},
		{Route{To: to, Blackhole: true, Protocol: "bird"}, "blackhole 10.102.0.0/26 proto bird", "blackhole proto bird"},
	} {
		if got := c.route.String(); got != c.text {
			t.Errorf("%q, want %q", got, c.text)
		}
		if got := c.route.Way(); got != c.way {
			t.Errorf("way %q, want %q", got, c.way)
		}
	}
}
