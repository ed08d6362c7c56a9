package diagnose

import (
	"net/netip"
	"testing"

	"tare/result"
)

// TestFixesMendWhatTheyFind holds fixes to the place that has to change, and to what it
// must have afterwards.
func TestFixesMendWhatTheyFind(t *testing.T) {
	lost := []result.Sighting{{At: "h1/c1", Device: "eth0", Out: true}, {At: "h1", Device: "vxlan0", Out: true}}
	for name, s := range map[string]shown{
		// moby#36069: a container with the same address and another MAC address
		"a permanent entry of a tunnel is replaced": {"clean-vxlan", func(e *Evidence) {
			lose(e, lost...)
			set(e, "h2/c1", links, "eth0.mac", "02:42:0a:dc:08:77")
			set(e, "h1/c1", neighbours, "10.220.8.2 dev eth0", "02:42:0a:dc:08:02 reachable")
		}, "wrong-mac", "h1 sends packets for 10.220.8.2", "sh -c 'ip neighbour replace 10.220.8.2 lladdr 02:42:0a:dc:08:77 dev vxlan0 nud permanent && bridge fdb append 02:42:0a:dc:08:77 dev vxlan0 dst 10.0.0.2' && tare lab exec --name demo h1/c1 -- ip neighbour del 10.220.8.2 dev eth0"},
		// flannel-io/flannel#535: the tunnel's other end is an address that all hosts have
		"an entry that leads to a third host": {"clean-vxlan", func(e *Evidence) {
			lose(e, lost...)
			set(e, "h1", fdb, "02:42:0a:dc:08:02 dev vxlan0", "reachable, 10.0.0.9 permanent")
			set(e, "h1", neighbours, "10.0.0.9 dev eth0", "incomplete")
		}, "overlay-stale-vxlan", "02:42:0a:dc:08:02 (h2/c1) to 10.0.0.9, which is not h2 (10.0.0.2)", "bridge fdb replace 02:42:0a:dc:08:02 dev vxlan0 dst 10.0.0.2"},
		"a neighbour that the tunnel was not given": {"clean-vxlan", func(e *Evidence) {
			lose(e)
			set(e, "h1/c1", neighbours, "10.220.8.2 dev eth0", "failed")
			set(e, "h1", neighbours, "10.220.8.2 dev vxlan0", "")
			set(e, "h1", links, "vxlan0.nolearning", true)
			set(e, "h1", links, "vxlan0.proxy", true)
		}, "neighbour-failed", "vxlan0 of h1 knows its neighbours from what sets them up", "ip neighbour replace 10.220.8.2 lladdr 02:42:0a:dc:08:02 dev vxlan0 nud permanent"},
		"two containers with one address": {"clean-route", func(e *Evidence) {
			lose(e, entered()...)
			set(e, "h2", neighbours, "10.102.0.2 dev br0", "02:42:0a:66:00:03 reachable")
			set(e, "h2", fdb, "02:42:0a:66:00:03 dev veth-c2", "reachable")
		}, "wrong-mac", "the device behind veth-c2 of h2 has the same address", "ip addr del 10.102.0.2/16 dev eth0 && tare lab exec --name demo h2 -- ip neighbour del 10.102.0.2 dev br0"},
		"a device without ARP": {"clean-route", func(e *Evidence) {
			lose(e, entered()...)
			set(e, "h2", neighbours, "10.102.0.2 dev br0", "incomplete")
			set(e, "h2/c1", links, "eth0.noarp", true)
		}, "neighbour-failed", "whose eth0 is set to answer none", "ip link set dev eth0 arp on"},
		// iproute2 6.1, ip link set arp off: each neighbour gets the device's own address
		"a device that asks no neighbour": {"clean-route", func(e *Evidence) {
			lose(e, entered()...)
			set(e, "h2/c1", links, "eth0.noarp", true)
			set(e, "h2/c1", neighbours, "10.102.0.1 dev eth0", e.word("h2/c1", links, "eth0.mac")+" noarp")
		}, "wrong-mac", "eth0 of h2/c1 is set to ask no neighbour", "ip link set dev eth0 arp on"},
		// projectcalico/calico#3270: proxy ARP without a default route
		"a host that answers for others, without a route": {"clean-route", func(e *Evidence) {
			lose(e)
			e.Routes = append(e.Routes, result.Route{At: "h2", To: prefix("0.0.0.0/0"), Device: "eth0", CC: "cubic"})
			set(e, "h1/c1", neighbours, "169.254.1.1 dev eth0", "incomplete")
			set(e, "h1", sysctls, "ipv4/conf/veth-c1/proxy_arp", 1.0)
			for at, device := range map[string]string{"h1": "veth-c1", "h1/c1": "eth0"} {
				set(e, at, links, device+".index", 2.0)
				set(e, at, links, device+".peer", 2.0)
			}
		}, "neighbour-failed", "h1 answers for others on veth-c1 (proxy_arp)", "ip route add default dev eth0 congctl cubic"},
		"a netmask that is too wide": {"clean-route", func(e *Evidence) {
			lose(e)
			for n, a := range e.Addresses {
				if a.At == "h1/c1" && a.Device == "eth0" {
					e.Addresses[n].Prefix = prefix("10.101.0.2/8")
				}
			}
			set(e, "h1/c1", neighbours, "10.102.0.2 dev eth0", "failed")
		}, "neighbour-failed", "which needs a network of 10.101.0.0/16", "sh -c 'ip addr add 10.101.0.2/16 dev eth0 && ip addr del 10.101.0.2/8 dev eth0'"},
		"a gateway that nobody has": {"clean-route", func(e *Evidence) {
			lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "br0"})
			for n, r := range e.Routes {
				if r.At == "h1" && r.To == prefix("10.102.0.0/16") {
					e.Routes[n].Via = netip.MustParseAddr("10.0.0.77")
				}
			}
			set(e, "h1", neighbours, "10.0.0.77 dev eth0", "failed")
		}, "route-diverted", "to 10.0.0.77, which does not answer, and not to 10.0.0.2", "ip route replace 10.102.0.0/16 via 10.0.0.2 congctl cubic"},
		"both ends of a link, and what the sender remembers": {"clean-route", func(e *Evidence) {
			set(e, "h1", links, "eth0.mtu", 1400.0)
			set(e, "h2", links, "eth0.mtu", 1400.0)
			e.Routes = append(e.Routes, result.Route{At: "h1/c1", To: prefix("10.102.0.2/32"), Via: netip.MustParseAddr("10.101.0.1"), Device: "eth0", MTU: 1400, Learned: true})
		}, "mtu-mismatch", "eth0 in h1 has MTU 1400, the path allows 1500, and eth0 in h2 has MTU 1400", "ip link set dev eth0 mtu 1500 && tare lab exec --name demo h2 -- ip link set dev eth0 mtu 1500 && tare lab exec --name demo h1/c1 -- ip route flush cache"},
		// iproute2 6.1: one host of a network with jumbo frames has 1500
		"a narrow end that loses packets, and what the sender remembers of it": {"mtu-black-hole", func(e *Evidence) {
			to := netip.MustParseAddr(e.addressOn("h1/c1", "eth0"))
			e.Routes = append(e.Routes, result.Route{At: "h2/c1", To: netip.PrefixFrom(to, 32), Device: "eth0", MTU: 1350, Learned: true})
		}, "mtu-black-hole", "eth0 in h2 has MTU 1400, the path needs 1500", "ip link set dev eth0 mtu 1500 && tare lab exec --name demo h2/c1 -- ip route flush cache"},
		"a path that is remembered alone": {"clean-route", func(e *Evidence) {
			e.Routes = append(e.Routes, result.Route{At: "h1/c1", To: prefix("10.102.0.2/32"), Device: "eth0", MTU: 1300, Learned: true})
		}, "mtu-mismatch", "h1/c1 remembers an MTU of 1300 for 10.102.0.2, the path allows 1500", "ip route flush cache"},
		"a route with an MTU": {"clean-route", func(e *Evidence) {
			e.Routes = append(e.Routes, result.Route{At: "h1", To: prefix("10.102.0.0/24"), Via: netip.MustParseAddr("10.0.0.2"), Device: "eth0", MTU: 600, Locked: true, CC: "cubic"})
		}, "mtu-mismatch", "the route of h1 to 10.102.0.0/24 has MTU 600, the path allows 1500", "ip route replace 10.102.0.0/24 via 10.0.0.2 dev eth0 congctl cubic"},
	} {
		t.Run(name, s.check)
	}
}
