package diagnose

import (
	"net/netip"
	"slices"
	"testing"

	"tare/result"
)

// sent are sightings of a message that left the client, and came to its host.
func sent() []result.Sighting {
	return []result.Sighting{{At: "h1/c1", Device: "eth0", Out: true}, {At: "h1", Device: "br0"}}
}

func TestWhatPlacesLost(t *testing.T) {
	unrouted := func(e *Evidence, at string) {
		e.Routes = slices.DeleteFunc(e.Routes, func(r result.Route) bool { return r.At == at && r.Table == 0 })
		count(e, at, snmp, "Ip.OutNoRoutes", 4)
	}
	for name, s := range map[string]shown{
		// siderolabs/talos#13257: rules are set anew, and none for the table local is left
		"the rule for its own addresses": {"clean-route", func(e *Evidence) {
			lose(e, append(entered(), result.Sighting{At: "h2/c1", Device: "eth0"})...)
			e.Policies = []result.Policy{{At: "h2/c1", Priority: 32766}}
		}, "table-unused", "no rule of h2/c1 looks into the table local", "ip rule add lookup local priority 0"},
		"the rule for its routes": {"clean-route", func(e *Evidence) {
			lose(e, sent()...)
			e.Policies = []result.Policy{{At: "h1", Table: localTable}}
		}, "table-unused", "no rule of h1 looks into the table main", "ip rule add lookup main priority 32766"},
		"the route to its own address": {"clean-route", func(e *Evidence) {
			lose(e, append(entered(), result.Sighting{At: "h2/c1", Device: "eth0"})...)
			e.Routes = append(e.Routes, result.Route{At: "h2/c1", To: prefix("127.0.0.0/8"), Device: "lo", Kind: "local", Table: localTable})
		}, "table-unused", "no route by which it takes packets for it", "ip route add local 10.102.0.2 dev eth0 table local"},
		// systemd/systemd#16071: a lease that is renewed takes the address, and its routes
		"the address of a host": {"clean-route", func(e *Evidence) {
			lose(e, sent()...)
			e.Addresses = slices.DeleteFunc(e.Addresses, func(a result.Address) bool { return a.At == "h2" && a.Device == "eth0" })
			e.Routes = slices.DeleteFunc(e.Routes, func(r result.Route) bool { return r.At == "h2" && r.Device == "eth0" })
		}, "address-missing", "h2 has no address 10.0.0.2 on eth0, where h1 looks for it", "sh -c 'ip addr add 10.0.0.2/16 dev eth0 && ip route replace 10.0.0.0/16 dev eth0"},
		"the address of a container that sends": {"clean-route", func(e *Evidence) {
			lose(e)
			unrouted(e, "h1/c1")
			e.Addresses = slices.DeleteFunc(e.Addresses, func(a result.Address) bool { return a.At == "h1/c1" && a.Device == "eth0" })
			set(e, "h1", neighbours, "10.101.0.2 dev br0", e.word("h1/c1", links, "eth0.mac")+" stale")
		}, "address-missing", "h1/c1 has no address 10.101.0.2 on eth0", "sh -c 'ip addr add 10.101.0.2/16 dev eth0 && "},
		"the address of a container that keeps one of IPv6": {"clean-route", func(e *Evidence) {
			lose(e)
			unrouted(e, "h1/c1")
			for n, a := range e.Addresses {
				if a.At == "h1/c1" && a.Device == "eth0" {
					e.Addresses[n].Prefix = prefix("fd00:1::2/64")
				}
			}
			set(e, "h1", neighbours, "10.101.0.2 dev br0", e.word("h1/c1", links, "eth0.mac")+" stale")
		}, "address-missing", "h1/c1 has no address 10.101.0.2 on eth0", "sh -c 'ip addr add 10.101.0.2/16 dev eth0 && "},
		"the address of a container that none of its neighbours knows": {"clean-route", func(e *Evidence) { // Docker 27 and before
			lose(e)
			unrouted(e, "h1/c1")
			e.Addresses = slices.DeleteFunc(e.Addresses, func(a result.Address) bool { return a.At == "h1/c1" && a.Device == "eth0" })
			set(e, "h1/c1", links, "eth0.mac", "02:42:0a:65:00:09")
		}, "address-missing", "h1/c1 has no address 10.101.0.9 on eth0", "sh -c 'ip addr add 10.101.0.9/16 dev eth0 && "},
		"the gateway of its containers": {"clean-route", func(e *Evidence) {
			lose(e, append(entered(), result.Sighting{At: "h2/c1", Device: "eth0"})...)
			for n, a := range e.Addresses {
				if a.At == "h2" && a.Device == "br0" {
					e.Addresses[n].Prefix = prefix("10.99.7.1/24")
				}
			}
			for n, r := range e.Routes {
				if r.At == "h2" && r.Device == "br0" {
					e.Routes[n].To = prefix("10.99.7.0/24")
				}
			}
			for name, value := range map[string]any{"veth-c1.index": 4.0, "veth-c1.peer": 2.0, "veth-c1.master": "br0", "br0.up": true, "br0.kind": "bridge"} {
				set(e, "h2", links, name, value)
			}
			set(e, "h2/c1", links, "eth0.index", 2.0)
			set(e, "h2/c1", links, "eth0.peer", 4.0)
		}, "address-missing", "h2 has no address 10.102.0.1 on br0, where h2/c1 looks for it", "sh -c 'ip addr add 10.102.0.1/16 dev br0 && ip route replace 10.102.0.0/16 dev br0"},
		"an address that is used for nothing new": {"clean-route", func(e *Evidence) {
			lose(e)
			e.Dial = "fd00:2::2"
			six := func(at, text string, retired bool) result.Address {
				return result.Address{At: at, Device: "eth0", Prefix: prefix(text), Retired: retired}
			}
			e.Addresses = append(e.Addresses, six("h1/c1", "fd99::5/64", false), six("h1/c1", "fd00:1::2/64", true), six("h2/c1", "fd00:2::2/64", false))
			e.Routes = append(e.Routes, result.Route{At: "h2", To: prefix("fd00:1::/64"), Device: "eth0"})
		}, "address-missing", "h1/c1 sends from fd99::5, to which h2 has no route, as its address fd00:1::2 is deprecated", "ip -6 addr change fd00:1::2/64 dev eth0 valid_lft forever preferred_lft forever"},
		// moby/moby#15840: an address of IPv6 that is there and not in use
		"the right to use its address": {"clean-route", func(e *Evidence) {
			lose(e, append(entered(), result.Sighting{At: "h2", Device: "br0", Out: true})...)
			e.Addresses = append(e.Addresses, result.Address{At: "h2/c1", Device: "eth0", Prefix: prefix("fd00::2/64"), Refused: true})
		}, "address-missing", "h2/c1 does not use its address fd00::2: another on the link had it", "sh -c 'ip -6 addr del fd00::2/64 dev eth0 && ip -6 addr add fd00::2/64 dev eth0 nodad'"},
		// projectcalico/calico#8003: an interface that goes down and up has no routes left
		"all routes of a container": {"clean-route", func(e *Evidence) {
			lose(e)
			unrouted(e, "h1/c1")
		}, "route-missing", "h1/c1 has no route to h2/c1", "sh -c 'ip route add 10.101.0.0/16 dev eth0 && ip route add 0.0.0.0/0 via 10.101.0.1"},
		"the gateway of a container, by a prefix of 32 bits": {"clean-route", func(e *Evidence) {
			lose(e)
			unrouted(e, "h1/c1")
			for n, a := range e.Addresses {
				if a.At == "h1/c1" && a.Device == "eth0" {
					e.Addresses[n].Prefix = prefix("10.101.0.2/32")
				}
			}
		}, "route-missing", "h1/c1 has no route to h2/c1", "sh -c 'ip route add 10.101.0.0/16 dev eth0 && ip route add 0.0.0.0/0 via 10.101.0.1"},
		"a way back to the address that a route names": {"clean-route", func(e *Evidence) {
			lose(e, append(entered(), result.Sighting{At: "h2/c1", Device: "eth0"}, result.Sighting{At: "h2/c1", Device: "eth0", Out: true, Reply: true}, result.Sighting{At: "h2", Device: "br0", Reply: true})...)
			count(e, "h2", netstat, "IpExt.InNoRoutes", 4)
			for n, r := range e.Routes {
				if r.At == "h1/c1" && r.To.Bits() == 0 {
					e.Routes[n].Source = netip.MustParseAddr("172.30.0.9")
				}
			}
		}, "route-missing", "h2 has no route to 172.30.0.9, from which h1/c1 sends", "ip route replace default via 10.101.0.1 dev eth0"},
	} {
		t.Run(name, s.check)
	}
}

func TestWaysThatTheKernelWouldNotTake(t *testing.T) {
	for name, s := range map[string]shown{
		// wg-quick leaves its rules where it is killed: what it does not mark goes to its table
		"a rule for what is not marked": {"clean-route", func(e *Evidence) {
			lose(e, result.Sighting{At: "h1/c1", Device: "wg0", Out: true})
			e.Policies = []result.Policy{{At: "h1/c1", Table: localTable}, {At: "h1/c1", Priority: 32764, Shortest: 1}, {At: "h1/c1", Priority: 32765, Rest: "not fwmark 0xca6c", Table: 51820}, {At: "h1/c1", Priority: 32766}}
			e.Routes = append(e.Routes, result.Route{At: "h1/c1", To: prefix("0.0.0.0/0"), Device: "wg0", Table: 51820})
			set(e, "h1/c1", links, "wg0.kind", "dummy")
		}, "route-diverted", "its rule 32765", "ip rule del not fwmark 0xca6c lookup 51820 priority 32765"},
		"rules that refuse a protocol each": {"clean-route", func(e *Evidence) {
			lose(e, sent()...)
			e.Trials = append(e.Trials[:1], result.Trial{Workload: "udp_rr", Size: 1, Error: "no answer in time"})
			e.Policies = []result.Policy{{At: "h1", Table: localTable}, {At: "h1", Priority: 50, Rest: "ipproto tcp", Kind: "prohibit"}, {At: "h1", Priority: 51, Rest: "ipproto udp", Kind: "unreachable"}, {At: "h1", Priority: 52, To: prefix("10.9.0.0/16"), Kind: "blackhole"}, {At: "h1", Priority: 53, Rest: "ipproto icmp", Kind: "blackhole"}, {At: "h1", Priority: 32766}}
		}, "route-diverted", "its rules 50 (from all ipproto tcp prohibit), 51 (from all ipproto udp unreachable), 53 (from all ipproto icmp blackhole) say so", "sh -c 'ip rule del ipproto tcp prohibit priority 50 && ip rule del ipproto udp unreachable priority 51 && ip rule del ipproto icmp blackhole priority 53'"},
		"a next hop that is an object": {"clean-route", func(e *Evidence) {
			lose(e, sent()...)
			e.Routes = append(e.Routes, result.Route{At: "h1", To: prefix("10.102.0.0/24"), Device: "lo", Kind: "blackhole", Object: 8})
		}, "route-diverted", "its route 10.102.0.0/24 nhid 8 says so", "ip route del 10.102.0.0/24 nhid 8"},
		"a route without the gateway": {"clean-route", func(e *Evidence) {
			lose(e, sent()...)
			for n, r := range e.Routes {
				if r.At == "h1" && r.To == prefix("10.102.0.0/16") {
					e.Routes[n].Via = netip.Addr{}
				}
			}
			set(e, "h1", neighbours, "10.102.0.2 dev eth0", "failed")
		}, "route-diverted", "h1 takes h2/c1 (10.102.0.2) for a neighbour on eth0, and does not send to 10.0.0.2", "ip route replace 10.102.0.0/16 via 10.0.0.2"},
		"a gateway that is another container": {"clean-route", func(e *Evidence) {
			lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "veth-c2", Out: true})
			set(e, "h1", links, "veth-c2.master", "br0")
			set(e, "h1", links, "veth-c2.kind", "veth")
			for n, r := range e.Routes {
				if r.At == "h1/c1" && r.To.Bits() == 0 {
					e.Routes[n].Via = netip.MustParseAddr("10.101.0.3")
				}
			}
			set(e, "h1/c1", neighbours, "10.101.0.3 dev eth0", "02:42:0a:65:00:03 reachable")
		}, "route-diverted", "to 10.101.0.3, which does not pass them on, and not to 10.101.0.1", "ip route replace 0.0.0.0/0 via 10.101.0.1"},
		"a filter of the way back that is right: the way is wrong": {"clean-route", func(e *Evidence) {
			lose(e, entered()...)
			count(e, "h2", netstat, "TcpExt.IPReversePathFilter", 4)
			e.Routes = append(e.Routes, result.Route{At: "h2", To: prefix("10.101.0.0/24"), Device: "tun9"})
			set(e, "h2", links, "tun9.kind", "dummy")
		}, "route-diverted", "its route 10.101.0.0/24 dev tun9 says so", "ip route del 10.101.0.0/24 dev tun9"},
		"a TTL of one": {"clean-route", func(e *Evidence) {
			lose(e, sent()...)
			set(e, "h1/c1", sysctls, "ipv4/ip_default_ttl", 1.0)
			count(e, "h1", snmp, "Icmp.OutTimeExcds", 4)
		}, "ttl-expired", "h1/c1 sends with a TTL of 1", "sysctl -w net/ipv4/ip_default_ttl=64"},
	} {
		t.Run(name, s.check)
	}
}

// TestPortThatWasDown: a container's own route goes with its port, as in ptp and Calico.
func TestPortThatWasDown(t *testing.T) {
	shown{"clean-route", func(e *Evidence) {
		lose(e, entered()...)
		for name, value := range map[string]any{"cali1.index": 4.0, "cali1.peer": 2.0, "cali1.kind": "veth", "cali1.up": false} {
			set(e, "h2", links, name, value)
		}
		set(e, "h2/c1", links, "eth0.index", 2.0)
		set(e, "h2/c1", links, "eth0.peer", 4.0)
	}, "link-down", "cali1 in h2 is down", "sh -c 'ip link set dev cali1 up && ip route replace 10.102.0.2 dev cali1"}.check(t)
}

func TestPortsOfBridges(t *testing.T) {
	port := func(change func(e *Evidence)) func(e *Evidence) {
		return func(e *Evidence) {
			lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "veth-c1"})
			for name, value := range map[string]any{"veth-c1.index": 4.0, "veth-c1.peer": 2.0, "veth-c1.master": "br0", "veth-c1.up": true, "br0.up": true, "br0.kind": "bridge"} {
				set(e, "h1", links, name, value)
			}
			set(e, "h1/c1", links, "eth0.index", 2.0)
			set(e, "h1/c1", links, "eth0.peer", 4.0)
			change(e)
		}
	}
	for name, s := range map[string]shown{
		// iproute2 6.1 sets locked, for 802.1X
		"locked": {"clean-route", port(func(e *Evidence) {
			set(e, "h1", links, "veth-c1.locked", true)
			delete(e.state("h1", fdb), e.word("h1/c1", links, "eth0.mac")+" dev veth-c1")
		}), "bridge-port", "port veth-c1 of h1 is locked", "bridge link set dev veth-c1 locked off"},
		"listening": {"clean-route", port(func(e *Evidence) {
			set(e, "h1", links, "veth-c1.state", "listening")
			set(e, "h1", links, "br0.stp", true)
		}), "bridge-port", "by the spanning tree protocol", "sh -c 'ip link set dev br0 type bridge stp_state 0 && bridge link set dev veth-c1 state 3'"},
		"in another bridge": {"clean-route", port(func(e *Evidence) {
			set(e, "h1", links, "veth-c1.master", "br9")
		}), "bridge-port", "veth-c1 of h1, the device of h1/c1, is in br9", "ip link set dev veth-c1 master br0"},
		"sent no broadcasts": {"clean-route", port(func(e *Evidence) {
			set(e, "h1", links, "veth-c1.bcast_flood", false)
			set(e, "h1/c1", neighbours, "10.101.0.1 dev eth0", "failed")
		}), "bridge-port", "is sent no broadcasts", "bridge link set dev veth-c1 bcast_flood on"},
	} {
		t.Run(name, s.check)
	}
}

func TestTunnelsOnAWrongUnderlay(t *testing.T) {
	stuck := func(e *Evidence) {
		lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "vxlan0", Out: true})
	}
	for name, s := range map[string]shown{
		// coreos/tectonic-installer#2439: flannel is given an address that its host no longer has
		"an address that the host no longer has": {"clean-vxlan", func(e *Evidence) {
			stuck(e)
			set(e, "h1", links, "vxlan0.local", "10.0.0.77")
		}, "overlay-stale-vxlan", "vxlan0 of h1 sends from 10.0.0.77", "ip link set dev vxlan0 type vxlan local 10.0.0.1"},
		"a host that lost its way to the other's address": {"clean-vxlan", func(e *Evidence) {
			stuck(e)
			e.Routes = slices.DeleteFunc(e.Routes, func(r result.Route) bool { return r.At == "h1" && r.Device == "eth0" })
		}, "route-missing", "h1 has no route to h2 (10.0.0.2)", "ip route add 10.0.0.0/16 dev eth0"},
		"a host that sends to its neighbour by another": {"clean-vxlan", func(e *Evidence) {
			stuck(e)
			e.Routes = append(e.Routes, result.Route{At: "h1", To: prefix("10.0.0.2/32"), Via: netip.MustParseAddr("10.0.0.254"), Device: "eth0"})
			set(e, "h1", neighbours, "10.0.0.254 dev eth0", "failed")
		}, "route-diverted", "to 10.0.0.254, which does not answer, and not to 10.0.0.2", "ip route del 10.0.0.2/32 via 10.0.0.254 dev eth0"},
		"a port from which the bridge has its MTU": {"clean-vxlan", func(e *Evidence) {
			fail(e, "udp_rr", 1400, "no answer in time")
			e.Trials[0].Seen = []result.Sighting{{At: "h2", Device: "br0"}}
			set(e, "h2", links, "veth-c1.master", "br0")
			set(e, "h2", links, "veth-c1.mtu", 1280.0)
			set(e, "h2", links, "br0.mtu", 1280.0)
		}, "mtu-black-hole", "veth-c1 in h2 has MTU 1280, the path needs 1450, and br0", "sh -c 'ip link set dev veth-c1 mtu 1450 && ip link set dev br0 mtu 1450"},
		"containers that take more than the tunnel carries": {"clean-vxlan", func(e *Evidence) {
			lose(e, result.Sighting{At: "h1/c1", Device: "eth0", Out: true}, result.Sighting{At: "h1", Device: "veth-c1"})
			failed := e.Trials[0]
			fine := failed
			fine.Error, failed.Size, failed.Cut, failed.Workload = "", 2944, true, "udp_rr"
			e.Trials = []result.Trial{fine, failed}
			set(e, "h1/c1", links, "eth0.mtu", 1500.0)
		}, "fragments-dropped", "eth0 in h1/c1 has MTU 1500, the network carries 1450", "ip link set dev eth0 mtu 1450"},
		"no way to the other host": {"clean-vxlan", func(e *Evidence) {
			stuck(e)
			e.Routes = append(e.Routes, result.Route{At: "h1", To: prefix("10.0.0.2/32"), Kind: "blackhole"})
		}, "route-diverted", "h1 refuses packets for h2 (10.0.0.2)", "ip route del blackhole 10.0.0.2/32"},
	} {
		t.Run(name, s.check)
	}
}

// The default route of a container went with its address, and is its host's bridge.
func TestAContainerGetsItsDefaultRouteBack(t *testing.T) {
	e := captured(t, "clean-route")
	set(e, "h1", links, "br0.kind", "bridge")
	ofEnd := func(r result.Route) bool { return r.At == "h1/c1" && r.Table == 0 }
	if got := e.lostDefault("h1/c1"); got != "" {
		t.Errorf("with its routes: %q", got)
	}
	e.Routes = slices.DeleteFunc(e.Routes, ofEnd)
	if got, want := e.lostDefault("h1/c1"), " && ip route replace default via 10.101.0.1"; got != want {
		t.Errorf("without: %q, want %q", got, want)
	}
	if got := e.lostDefault("h1"); got != "" {
		t.Errorf("a host: %q", got)
	}
}

func TestAPlaceTakesItsAddressesForLocal(t *testing.T) {
	e := captured(t, "clean-route")
	if got := e.kindsAt("h1", []string{"10.0.0.1", "10.0.0.2"}); !slices.Equal(got, []string{"local", "unicast"}) {
		t.Errorf("kinds %v", got)
	}
}
