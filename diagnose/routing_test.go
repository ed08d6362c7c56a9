package diagnose

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"tare/result"
)

// shown is a fault in a lab that was clean, and what the first finding must say and mend.
type shown struct {
	of     string
	change func(e *Evidence)
	id     string
	says   string
	fix    string // after the place
}

func (s shown) check(t *testing.T) {
	t.Helper()
	e := captured(t, s.of)
	s.change(e)
	found := Find(e)
	if len(found) == 0 || found[0].ID != s.id || !strings.Contains(found[0].Cause, s.says) || !strings.Contains(found[0].Fix, "-- "+s.fix) {
		t.Errorf("found %s\nwant %s, that says %q and is mended by %q", sentences(found), s.id, s.says, s.fix)
	}
}

// lose lets the small messages be lost after the last place that saw them.
func lose(e *Evidence, last ...result.Sighting) {
	fail(e, "tcp_rr", 1, "no answer in time")
	e.Trials[0].Seen = last
}

func prefix(text string) netip.Prefix { return netip.MustParsePrefix(text) }

// entered are sightings up to the server's host on its way in.
func entered() []result.Sighting {
	return []result.Sighting{{At: "h1/c1", Device: "eth0", Out: true}, {At: "h1", Device: "eth0", Out: true}, {At: "h2", Device: "eth0"}}
}

func TestRoutesThatLeadAstray(t *testing.T) {
	for name, s := range map[string]shown{
		// aws/amazon-vpc-cni-k8s#75: a rule for the container's address names the table of another interface
		"a rule that names the table of another device": {"clean-route", func(e *Evidence) {
			lose(e, append(entered(), result.Sighting{At: "h2/c1", Device: "eth0"}, result.Sighting{At: "h2/c1", Device: "eth0", Out: true, Reply: true}, result.Sighting{At: "h2", Device: "br0", Reply: true})...)
			e.Policies = []result.Policy{{At: "h2", Table: localTable}, {At: "h2", Priority: 512, From: prefix("10.102.0.2/32"), Table: 77}, {At: "h2", Priority: 32766}}
			e.Routes = append(e.Routes, result.Route{At: "h2", To: prefix("0.0.0.0/0"), Device: "eni1", Table: 77})
			set(e, "h2", neighbours, "10.101.0.2 dev eni1", "incomplete")
		}, "route-diverted", "by eni1, behind which it is not, and not by eth0: its rule 512", "ip rule del from 10.102.0.2/32 lookup 77 priority 512"},
		"a rule that prohibits": {"clean-route", func(e *Evidence) {
			lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "br0"})
			e.Policies = []result.Policy{{At: "h1", Table: localTable}, {At: "h1", Priority: 300, From: prefix("10.101.0.0/16"), To: prefix("10.102.0.0/16"), Kind: "prohibit"}, {At: "h1", Priority: 32766}}
		}, "route-diverted", "h1 refuses packets for h2/c1", "ip rule del from 10.101.0.0/16 to 10.102.0.0/16 prohibit priority 300"},
		"a rule for the protocol alone": {"clean-route", func(e *Evidence) {
			lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "br0"})
			e.Policies = []result.Policy{{At: "h1", Table: localTable}, {At: "h1", Priority: 299, Rest: "ipproto udp", Kind: "blackhole"}, {At: "h1", Priority: 300, Rest: "ipproto tcp dport 5210", Kind: "blackhole"}, {At: "h1", Priority: 32766}}
		}, "route-diverted", "its rule 300 (from all ipproto tcp dport 5210 blackhole)", "ip rule del ipproto tcp dport 5210 blackhole priority 300"},
		// as kube-router has them: a rule for each way
		"a rule for each way": {"clean-route", func(e *Evidence) {
			lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "br0"})
			e.Policies = []result.Policy{{At: "h1", Table: localTable}, {At: "h1", Priority: 300, From: prefix("10.101.0.0/16"), Table: 77}, {At: "h1", Priority: 301, To: prefix("10.101.0.0/16"), Table: 77}, {At: "h1", Priority: 32766}}
			e.Routes = append(e.Routes, result.Route{At: "h1", To: prefix("0.0.0.0/0"), Kind: "prohibit", Table: 77})
		}, "route-diverted", "its rule 300 (from 10.101.0.0/16 lookup 77) says so; and h1 refuses packets for h1/c1", "ip rule del from 10.101.0.0/16 lookup 77 priority 300 && tare lab exec --name demo h1 -- ip rule del to 10.101.0.0/16 lookup 77 priority 301"},
		"a gateway by the wrong device": {"clean-route", func(e *Evidence) {
			lose(e, sent()...)
			for n, r := range e.Routes {
				if r.At == "h1" && r.To == prefix("10.102.0.0/16") {
					e.Routes[n].Device = "br0"
				}
			}
			set(e, "h1", neighbours, "10.0.0.2 dev br0", "failed")
		}, "route-diverted", "to 10.0.0.2 by br0, behind which that is not, and not by eth0", "ip route replace 10.102.0.0/16 via 10.0.0.2 dev eth0 congctl cubic"},
		// Calico and its like: a gateway that no host has, and for which each answers
		"a gateway for which the host answers, with another's MAC address": {"clean-route", func(e *Evidence) {
			lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "cali1"})
			e.Addresses = slices.DeleteFunc(e.Addresses, func(a result.Address) bool { return a.At == "h1" && a.Device == "br0" })
			for name, value := range map[string]any{"cali1.index": 4.0, "cali1.peer": 2.0, "cali1.mac": "ee:ee:ee:ee:ee:ee"} {
				set(e, "h1", links, name, value)
			}
			set(e, "h1", sysctls, "ipv4/conf/cali1/proxy_arp", 1.0)
			set(e, "h1/c1", links, "eth0.index", 2.0)
			set(e, "h1/c1", links, "eth0.peer", 4.0)
			e.Routes = append(e.Routes, result.Route{At: "h1/c1", To: prefix("10.102.0.0/16"), Via: netip.MustParseAddr("169.254.1.1"), Device: "eth0"})
			e.Routes = append(e.Routes, result.Route{At: "h1", To: prefix("10.101.0.2/32"), Device: "cali1"})
			set(e, "h1/c1", neighbours, "169.254.1.1 dev eth0", "02:00:00:00:00:77 permanent")
		}, "wrong-mac", "h1/c1 sends packets for its gateway 169.254.1.1 to 02:00:00:00:00:77; cali1 of h1", "ip neighbour del 169.254.1.1 dev eth0"},
		"a longer prefix that is unreachable": {"clean-route", func(e *Evidence) {
			lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "br0"})
			e.Routes = append(e.Routes, result.Route{At: "h1", To: prefix("10.102.0.0/24"), Kind: "unreachable"})
		}, "route-diverted", "its route unreachable 10.102.0.0/24", "ip route del unreachable 10.102.0.0/24"},
		// Calico keeps a black hole for its block of addresses, and a route in it for each container
		"a host's route to its container is gone": {"clean-route", func(e *Evidence) {
			lose(e, entered()...)
			e.Routes = append(e.Routes, result.Route{At: "h2", To: prefix("10.102.0.0/26"), Kind: "blackhole"})
			e.Addresses = slices.DeleteFunc(e.Addresses, func(a result.Address) bool { return a.At == "h2" && a.Device == "br0" })
			set(e, "h2", links, "cali1.index", 4.0)
			set(e, "h2", links, "cali1.peer", 2.0)
			set(e, "h2/c1", links, "eth0.index", 2.0)
			set(e, "h2/c1", links, "eth0.peer", 4.0)
		}, "route-diverted", "h2 has no route to h2/c1 (10.102.0.2) by cali1, behind which it is, and refuses what has none: its route blackhole 10.102.0.0/26", "ip route replace 10.102.0.2 dev cali1 congctl cubic"},
		// flannel-io/flannel#1013: two bridges with the same network, one of them empty
		"two bridges of one network": {"clean-route", func(e *Evidence) {
			lose(e, entered()...)
			e.Routes = append([]result.Route{{At: "h2", To: prefix("10.102.0.0/16"), Device: "docker0"}}, e.Routes...)
			e.Addresses = append(e.Addresses, result.Address{At: "h2", Device: "docker0", Prefix: prefix("10.102.0.1/16")})
			set(e, "h2", links, "docker0.kind", "bridge")
		}, "route-diverted", "by docker0, behind which it is not, and not by br0: both have addresses of 10.102.0.0/16", "ip addr del 10.102.0.1/16 dev docker0"},
		"an address that the host has, too": {"clean-route", func(e *Evidence) {
			lose(e, entered()...)
			e.Routes = append(e.Routes, result.Route{At: "h2", To: prefix("10.102.0.2/32"), Device: "dummy0", Kind: "local", Table: localTable})
			e.Addresses = append(e.Addresses, result.Address{At: "h2", Device: "dummy0", Prefix: prefix("10.102.0.2/32")})
		}, "route-diverted", "10.102.0.2 is an address of its dummy0, too", "ip addr del 10.102.0.2/32 dev dummy0"},
		"two next hops, of which none is known to answer": {"clean-route", func(e *Evidence) {
			lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "br0"})
			hop := func(via string) result.NextHop { return result.NextHop{Via: netip.MustParseAddr(via), Device: "eth0"} }
			for n, r := range e.Routes {
				if r.At == "h1" && r.To == prefix("10.102.0.0/16") {
					e.Routes[n].Hops, e.Routes[n].Via = []result.NextHop{hop("10.0.0.8"), hop("10.0.0.9")}, netip.MustParseAddr("10.0.0.8")
				}
			}
			set(e, "h1", neighbours, "10.0.0.8 dev eth0", "failed")
		}, "route-diverted", "to 10.0.0.8, which does not answer, and not to 10.0.0.2", "ip route replace 10.102.0.0/16 via 10.0.0.2"},
		"a next hop of two that does not answer": {"clean-route", func(e *Evidence) {
			lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "br0"})
			hop := func(via string) result.NextHop { return result.NextHop{Via: netip.MustParseAddr(via), Device: "eth0"} }
			e.Routes = append(e.Routes, result.Route{At: "h1", To: prefix("10.102.0.0/24"), Hops: []result.NextHop{hop("10.0.0.9"), hop("10.0.0.2")}, CC: "cubic"})
			set(e, "h1", neighbours, "10.0.0.9 dev eth0", "failed")
		}, "next-hop-dead", "by 2 next hops, of which 1 lead nowhere (10.0.0.9 dev eth0)", "ip route replace 10.102.0.0/24 via 10.0.0.2 dev eth0 congctl cubic"},
	} {
		t.Run(name, s.check)
	}
}

func TestRulesThatDoNotMatterAreNoFault(t *testing.T) {
	e := captured(t, "clean-route")
	e.Policies = []result.Policy{{At: "h1", Table: localTable}, {At: "h1", Priority: 300, From: prefix("10.9.0.0/16"), Kind: "prohibit"}, {At: "h1", Priority: 400, Rest: "fwmark 0x1", Kind: "blackhole"}, {At: "h1", Priority: 32766}}
	if found := Find(e); len(found) > 0 {
		t.Errorf("a path that passes has %s", sentences(found))
	}
	lose(e, entered()...)
	if found := Find(e); found[0].ID == "route-diverted" {
		t.Errorf("what was lost behind the host has %s", sentences(found))
	}
}

func TestWhatTakesPacketsBesideRoutes(t *testing.T) {
	isolate := func(e *Evidence) {
		lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "veth-c1"})
		for at, settings := range map[string]map[string]any{
			"h1":    {"veth-c1.index": 4.0, "veth-c1.peer": 2.0, "veth-c1.master": "br0", "veth-c1.isolated": true, "vxlan0.isolated": true},
			"h1/c1": {"eth0.index": 2.0, "eth0.peer": 4.0},
		} {
			for name, value := range settings {
				set(e, at, links, name, value)
			}
		}
	}
	for name, s := range map[string]shown{
		// cilium#17292: a filter of a plugin that was removed
		"a filter that redirects": {"clean-route", func(e *Evidence) {
			lose(e, append(entered(), result.Sighting{At: "h2", Device: "stray1"})...)
			set(e, "h2", tcFilters, "eth0 ingress protocol ip pref 1 handle 800::800 u32", "redirect stray0")
			count(e, "h2", tcFilters, "eth0 ingress protocol ip pref 1 handle 800::800 u32.packets", 120)
		}, "tc-filter", "at the ingress of eth0 in h2 leads packets to stray0", "tc filter del dev eth0 ingress protocol ip pref 1 handle 800::800 u32"},
		"a program that drops, beside a filter that does not": {"clean-route", func(e *Evidence) {
			lose(e, entered()...)
			set(e, "h2", tcFilters, "veth-c1 egress protocol ip pref 49152 handle 0x1 bpf", "program")
			set(e, "h2", tcFilters, "veth-c1 ingress protocol ip pref 2 handle 0x1 flower", "pass")
			count(e, "h2", qdiscs, "veth-c1.clsact.dropped", 4)
		}, "tc-filter", "is a program that drops packets", "tc filter del dev veth-c1 egress protocol ip pref 49152 handle 0x1 bpf"},
		// moby#30766: a policy of an encrypted overlay that is left
		"a policy without a state": {"clean-route", func(e *Evidence) {
			lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "br0"})
			set(e, "h1", xfrmPolicies, "src 10.101.0.0/16 dst 10.102.0.0/16 dir out", "allow")
			set(e, "h1", xfrmPolicies, "src 10.9.0.0/16 dst 10.102.0.0/16 dir out", "allow")
			count(e, "h1", xfrmStat, "XfrmOutNoStates", 5)
		}, "xfrm-drop", "asks for an encryption for which there is no state", "ip xfrm policy delete src 10.101.0.0/16 dst 10.102.0.0/16 dir out"},
		"ports that are isolated": {"clean-vxlan", isolate, "bridge-port", "ports veth-c1 and vxlan0 of a bridge in h1 are isolated", "sh -c 'bridge link set dev veth-c1 isolated off; bridge link set dev vxlan0 isolated off'"},
		"a tunnel's device in no bridge": {"clean-vxlan", func(e *Evidence) {
			lose(e, append(entered(), result.Sighting{At: "h2/c1", Device: "eth0"})...)
			set(e, "h1", links, "vxlan0.master", "")
			for name, value := range map[string]any{"veth-c1.index": 4.0, "veth-c1.peer": 2.0, "veth-c1.master": "br0"} {
				set(e, "h1", links, name, value)
			}
			set(e, "h1/c1", links, "eth0.index", 2.0)
			set(e, "h1/c1", links, "eth0.peer", 4.0)
		}, "bridge-port", "vxlan0 of h1, the device of the tunnel, is in no bridge", "ip link set dev vxlan0 master br0"},
		"a container's device in no bridge": {"clean-vxlan", func(e *Evidence) {
			isolate(e)
			set(e, "h1", links, "vxlan0.isolated", false)
			set(e, "h1", links, "veth-c1.master", "")
		}, "bridge-port", "veth-c1 of h1, the device of h1/c1, is in no bridge", "ip link set dev veth-c1 master br0"},
		"a port that is blocked": {"clean-vxlan", func(e *Evidence) {
			isolate(e)
			set(e, "h1", links, "vxlan0.isolated", false)
			set(e, "h1", links, "vxlan0.state", "blocking")
		}, "bridge-port", "port vxlan0 of br0 in h1 is blocking", "bridge link set dev vxlan0 state 3"},
	} {
		t.Run(name, s.check)
	}
}
