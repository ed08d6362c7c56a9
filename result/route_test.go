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
		{Route{To: to, Kind: "blackhole", Protocol: "bird"}, "blackhole 10.102.0.0/26 proto bird", "blackhole proto bird"},
		{
			Route{To: to, Via: via, Device: "eth0", Table: 77, Metric: 9, MTU: 600, Locked: true},
			"10.102.0.0/26 via 10.0.0.2 dev eth0 table 77 metric 9 mtu lock 600", "via 10.0.0.2 dev eth0 table 77 metric 9 mtu lock 600",
		},
		{
			Route{To: to, Via: via, Device: "eth0", Hops: []NextHop{{via, "eth0"}, {netip.Addr{}, "eth1"}}},
			"10.102.0.0/26 nexthop via 10.0.0.2 dev eth0 nexthop dev eth1", "nexthop via 10.0.0.2 dev eth0 nexthop dev eth1",
		},
	} {
		if got := c.route.String(); got != c.text {
			t.Errorf("%q, want %q", got, c.text)
		}
		if got := c.route.Way(); got != c.way {
			t.Errorf("way %q, want %q", got, c.way)
		}
	}
}

func TestPolicyText(t *testing.T) {
	from, to := netip.MustParsePrefix("10.101.0.0/16"), netip.MustParsePrefix("10.102.0.0/16")
	for text, p := range map[string]Policy{
		"from all lookup main":                         {},
		"from 10.101.0.0/16 to 10.102.0.0/16 prohibit": {From: from, To: to, Kind: "prohibit"},
		"from all iif br0 fwmark 0x1 lookup 77":        {In: "br0", Rest: "fwmark 0x1", Table: 77},
		"not from all fwmark 0xca6c lookup 51820":      {Rest: "not fwmark 0xca6c", Table: 51820},
		"from all lookup main suppress_prefixlength 0": {Shortest: 1},
		"from all to 10.102.0.0/16 oif eth0 blackhole": {To: to, Out: "eth0", Kind: "blackhole"},
	} {
		if got := p.String(); got != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
}
