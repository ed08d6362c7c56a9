package diagnose

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"tare/result"
)

// named is the finding of a rule among all; none of an empty ID: there is none.
func named(found []result.Finding, id string) result.Finding {
	if at := slices.IndexFunc(found, func(f result.Finding) bool { return f.ID == id }); at >= 0 {
		return found[at]
	}
	return result.Finding{}
}

// pair is evidence in two forms that differ by one thing: in one the rule names its cause, in the
// other it does not.
type pair struct {
	of       string
	id, says string
	is, not  func(e *Evidence)
}

func (p pair) check(t *testing.T) {
	t.Helper()
	e := captured(t, p.of)
	p.is(e)
	if found := Find(e); !strings.Contains(named(found, p.id).Cause, p.says) || named(found, p.id).ID == "" {
		t.Errorf("found %s\nwant %s, that says %q", sentences(found), p.id, p.says)
	}
	e = captured(t, p.of)
	p.not(e)
	if found := Find(e); strings.Contains(named(found, p.id).Cause, p.says) && named(found, p.id).ID != "" {
		t.Errorf("found %s\nwant no %s that says %q", sentences(found), p.id, p.says)
	}
}

// cut is a datagram of a size that is lost at the server's host, where a rule drops fragments.
func cut(size int, chain string) func(e *Evidence) {
	return func(e *Evidence) {
		lose(e, entered()...)
		e.Trials = e.Trials[:1]
		e.Trials[0].Workload, e.Trials[0].Size = "udp_rr", size
		wall(e, "h2", chain, "ip frag-off & 0x3fff != 0 -> drop")
	}
}

// A packet that is exactly as large as may be is not cut, so that no rule for fragments meets it.
func TestFragmentsBeginAboveTheMTU(t *testing.T) {
	const forward, input = "ip filter FORWARD forward accept", "ip filter INPUT input accept"
	narrow := func(mtu float64) func(e *Evidence) {
		return func(e *Evidence) {
			cut(1400, input)(e)
			set(e, "h2", links, "eth0.mtu", mtu)
		}
	}
	for name, p := range map[string]pair{
		"of the path":           {"clean-route", "forward-drop", "a rule of ip filter FORWARD in h2", cut(1500-datagramHeaders+1, forward), cut(1500-datagramHeaders, forward)},
		"of a tunnel's carrier": {"clean-vxlan", "port-closed", "UDP port 4789 of the tunnel vxlan0", narrow(1400 + datagramHeaders + 50 - 1), narrow(1400 + datagramHeaders + 50)},
	} {
		t.Run(name, p.check)
	}
}

// A message of exactly so many bytes is a small one still.
func TestTheSmallestMessageIsSmall(t *testing.T) {
	e := captured(t, "link-down")
	for n := range e.Trials {
		if e.Trials[n].Error != "" {
			e.Trials[n].Size = smallest
		}
	}
	if found := Find(e); len(found) == 0 || found[0].ID != "link-down" {
		t.Errorf("found %s, want link-down", sentences(found))
	}
	pass, lost := small("tcp_rr", ""), result.Trial{Workload: "tcp_rr", Size: smallest, Error: "no answer in time"}
	e = tried(t, pass, lost, pass, lost, small("udp_rr", ""))
	e.Readings = nil
	found := Find(e)
	if len(found) == 0 || found[0].ID != "some-connections-fail" || !strings.HasPrefix(found[0].Cause, "2 of 4 connections") {
		t.Errorf("found %s, want that 2 of 4 connections fail", sentences(found))
	}
}

// A stream of half a shaper's rate is limited by it, a slower one by something else.
func TestAShaperLimitsFromHalfItsRate(t *testing.T) {
	shaped := func(above float64) func(e *Evidence) {
		return func(e *Evidence) { set(e, "h2", shapers, "veth-c1.tbf.rate", e.streamed()/nearRate+above) }
	}
	pair{"clean-route", "shaper-rate", "the tbf on veth-c1 in h2 passes no more than", shaped(0), shaped(1e6)}.check(t)
}

// Packets come twice: only a rule that copies them is blamed for it.
func TestOnlyARuleThatCopiesIsBlamedForCopies(t *testing.T) {
	for act, says := range map[string]string{
		"dup":    "packets from h1/c1 to h2/c1 arrive twice: a rule of ip twice pre in h2 copies them",
		"TEE":    "packets from h1/c1 to h2/c1 arrive twice: a rule of ip twice pre in h2 copies them",
		"accept": "packets from h1/c1 to h2/c1 arrive twice",
	} {
		e := captured(t, "clean-route")
		train := slices.IndexFunc(e.Trials, func(t result.Trial) bool { return t.Workload == trainName })
		e.Trials[train].Counters = map[string]float64{"datagrams": 700, "duplicates": 700}
		wall(e, "h2", "ip twice pre prerouting accept", "-> "+act)
		found := Find(e)
		f := named(found, "packets-twice")
		if f.Cause != says || strings.Contains(says, "rule") != strings.HasSuffix(f.Fix, "nft delete rule ip twice pre handle 1") {
			t.Errorf("%s: found %s, want %q", act, sentences(found), says)
		}
	}
}

// A rule that has few source ports is blamed where none is free, by its own place alone.
func TestARuleWithFewPortsIsBlamed(t *testing.T) {
	const few = "a rule of ip nat POSTROUTING in h1 has these ports alone"
	short := func(at, act string) func(e *Evidence) {
		return func(e *Evidence) {
			lose(e, entered()[:2]...)
			count(e, "h1", tracked, "insert_failed", 3)
			wall(e, at, "ip nat POSTROUTING postrouting accept", "-> "+act)
		}
	}
	for name, p := range map[string]pair{
		"masqueraded":  {"clean-route", "snat-ports", few, short("h1", "masquerade to :40000-40003"), short("h1", "masquerade")},
		"translated":   {"clean-route", "snat-ports", few, short("h1", "snat to 10.0.0.1:40000-40003"), short("h1", "snat to 10.0.0.1")},
		"not its work": {"clean-route", "snat-ports", few, short("h1", "snat to 10.0.0.1:40000"), short("h1", "dnat to 10.0.0.1:40000")},
		"elsewhere":    {"clean-route", "snat-ports", few, short("h1", "snat to 10.0.0.1:40000"), short("h2", "snat to 10.0.0.1:40000")},
	} {
		t.Run(name, p.check)
	}
}

// The policy of a chain whose tool counts what meets it is no cause where it met nothing.
func TestAPolicyThatCountedNothingIsNoCause(t *testing.T) {
	closed := func(packets float64) func(e *Evidence) {
		return func(e *Evidence) {
			lose(e, entered()...)
			e.Trials = e.Trials[:1]
			wall(e, "h2", "iptables-legacy filter FORWARD forward drop")
			set(e, "h2", rules, "iptables-legacy filter FORWARD.counts", true)
			count(e, "h2", rules, "iptables-legacy filter FORWARD policy drop", packets)
		}
	}
	pair{"clean-route", "forward-drop", "the policy of iptables-legacy filter FORWARD in h2", closed(7), closed(0)}.check(t)
}

func TestNeighboursThatNobodyIsAskedFor(t *testing.T) {
	unlearned := func(e *Evidence) {
		fail(e, "tcp_rr", 1, "no answer in time")
		set(e, "h1", links, "vxlan0.nolearning", true)
		set(e, "h1", neighbours, "10.220.8.2 dev vxlan0", "failed")
	}
	shown{"clean-vxlan", unlearned, "neighbour-failed", "an address of h2/c1: vxlan0 of h1 knows its neighbours from what sets them up",
		"ip neighbour replace 10.220.8.2 lladdr 02:42:0a:dc:08:02 dev vxlan0 nud permanent"}.check(t)
	pair{"clean-vxlan", "neighbour-failed", "knows its neighbours from what sets them up", unlearned, func(e *Evidence) {
		unlearned(e)
		set(e, "h1", neighbours, "10.220.8.2 dev vxlan0", "02:42:0a:dc:08:02 permanent")
		set(e, "h1", neighbours, "10.220.8.2 dev br0", "failed")
	}}.check(t)
}

// A port that is sent nothing for unknown addresses matters where the bridge does not know who is
// behind it.
func TestAPortThatIsSentNothing(t *testing.T) {
	mute := func(flood, known bool) func(e *Evidence) {
		return func(e *Evidence) {
			fail(e, "tcp_rr", 1, "no answer in time")
			for name, value := range map[string]any{"veth-c1.index": 4.0, "veth-c1.peer": 2.0, "veth-c1.flood": flood, "veth-c1.learning": false} {
				set(e, "h2", links, name, value)
			}
			set(e, "h2/c1", links, "eth0.index", 2.0)
			set(e, "h2/c1", links, "eth0.peer", 4.0)
			if !known {
				delete(e.state("h2", fdb), "02:42:0a:66:00:02 dev veth-c1")
			}
		}
	}
	const says = "port veth-c1 of h2 is sent nothing for unknown addresses, and the bridge does not know 02:42:0a:66:00:02 (h2/c1) behind it"
	shown{"clean-route", mute(false, false), "bridge-port", says, "bridge link set dev veth-c1 flood on learning on"}.check(t)
	for name, not := range map[string]func(e *Evidence){"it is sent all": mute(true, false), "it is known": mute(false, true)} {
		t.Run(name, pair{"clean-route", "bridge-port", "is sent nothing", mute(false, false), not}.check)
	}
}

// What drops fragments is named beside what they are, by the rule that counted them.
func TestARuleThatDropsFragmentsIsNamed(t *testing.T) {
	pass, lost := small("udp_rr", ""), result.Trial{Workload: "udp_rr", Size: 2944, Cut: true, Error: "no answer in time"}
	filtered := func(packets float64) func(e *Evidence) {
		return func(e *Evidence) {
			e.Trials = []result.Trial{{Workload: "tcp_rr", Size: 1, Seen: e.Trials[0].Seen}, pass, lost, pass, lost}
			wall(e, "h2", "ip filter FORWARD forward accept", "ip frag-off & 0x3fff != 0 -> counter; drop")
			count(e, "h2", rules, "ip filter FORWARD 1 drop", packets)
		}
	}
	pair{"clean-route", "fragments-dropped", "; a rule of ip filter FORWARD in h2 drops them", filtered(9), filtered(0)}.check(t)
}

// Of several devices that are too narrow the narrowest is named, wherever it is on the way.
func TestTheNarrowestDeviceIsNamed(t *testing.T) {
	widths := func(first, second float64) func(e *Evidence) {
		return func(e *Evidence) {
			fail(e, "tcp_rr", 1390, "no answer in time")
			set(e, "h1", links, "eth0.mtu", first)
			set(e, "h2", links, "eth0.mtu", second)
		}
	}
	shown{"clean-vxlan", widths(1480, 1490), "mtu-black-hole", "eth0 in h1 has MTU 1480, the path needs 1500", "ip link set dev eth0 mtu 1500"}.check(t)
	shown{"clean-vxlan", widths(1490, 1480), "mtu-black-hole", "eth0 in h2 has MTU 1480, the path needs 1500", "ip link set dev eth0 mtu 1500"}.check(t)
}

// A default route is none that BGP brought.
func TestADefaultRouteIsNotOfBGP(t *testing.T) {
	shown{"bgp-wrong-interface", func(e *Evidence) {
		e.Routes = slices.DeleteFunc(e.Routes, func(r result.Route) bool { return r.At == "h1" && r.To == prefix("10.102.0.0/26") })
	}, "bgp-wrong-interface", "h1 receives no route to h2/c1 (10.102.0.2) by BGP", "ip route replace 10.102.0.2 via 10.0.0.2"}.check(t)
}

// A container whose gateway nobody has needs that of its host.
func TestAGatewayThatNobodyHas(t *testing.T) {
	shown{"clean-route", func(e *Evidence) {
		lose(e)
		for n := range e.Routes {
			if r := &e.Routes[n]; r.At == "h1/c1" && r.Via.IsValid() {
				r.Via = netip.MustParseAddr("10.101.0.9")
			}
		}
		set(e, "h1/c1", neighbours, "10.101.0.9 dev eth0", "failed")
	}, "route-diverted", "h1/c1 sends packets for h2/c1 (10.102.0.2) to 10.101.0.9, which does not answer, and not to 10.101.0.1",
		"ip route replace 0.0.0.0/0 via 10.101.0.1"}.check(t)
}
