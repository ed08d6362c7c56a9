package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"tare/result"
)

// outcomes counts trials of one kind.
type outcomes struct{ passed, failed int }

// small counts the trials of small messages over a protocol, "tcp" or "udp", and a version of IP;
// 0: the path's.
func (e *Evidence) small(protocol string, ip int) (of outcomes) {
	for _, t := range e.Trials {
		switch {
		case t.Size > smallest || t.IP != ip || t.Idle > 0 || t.Workload != protocol+"_rr":
		case t.Error == "":
			of.passed++
		default:
			of.failed++
		}
	}
	return of
}

// lateAfter is how long, in seconds, an end whose answers may come too late has waited for a CPU in one
// trial: well over what a quiet machine asks of it, and well below what a trial waits for an answer.
const lateAfter = 0.1

// late reports whether a trial ran out of time at an end that waits for a CPU, while small messages pass
// now and then: that is no evidence of a fault.
func (e *Evidence) late(t result.Trial) bool {
	if t.Failure() != result.Silent || t.Idle > 0 {
		return false
	}
	mixed := slices.ContainsFunc([]outcomes{e.small("tcp", t.IP), e.small("udp", t.IP)}, func(of outcomes) bool { return of.passed > 0 && of.failed > 0 })
	return mixed && slices.ContainsFunc(e.Readings, func(r result.Reading) bool {
		return r.Source == scheduled && r.Counts["run_delay"] > lateAfter
	})
}

// all are those of both protocols.
func (e *Evidence) all(ip int) outcomes {
	tcp, udp := e.small("tcp", ip), e.small("udp", ip)
	return outcomes{tcp.passed + udp.passed, tcp.failed + udp.failed}
}

// contrast says what passes between the ends of a path on which something does not.
func (e *Evidence) contrast() string {
	between := " from " + e.Client + " to " + e.Server
	tcp, udp := e.small("tcp", 0), e.small("udp", 0)
	switch {
	case e.all(0).passed == 0 && e.all(4).passed > 0:
		return "IPv4 passes" + between + " and IPv6 does not"
	case tcp.passed > 0 && tcp.failed == 0 && udp.failed > 0:
		return "TCP passes" + between + " and UDP does not"
	case udp.passed > 0 && tcp.failed > 0 && tcp.passed == 0:
		return "UDP passes" + between + " and TCP does not"
	case tcp.passed > 0 && tcp.failed > 0:
		return fmt.Sprintf("%d of %d connections%s fail", tcp.failed, tcp.passed+tcp.failed, between)
	case e.all(0).passed > 0:
		return "small messages pass" + between + " and larger ones do not"
	case e.all(4).failed > 0:
		return "neither IPv6 nor IPv4 passes" + between
	}
	return "no packet passes" + between
}

// because says what the failure of a trial shows, beside where it was lost; empty: nothing.
func because(t result.Trial) string {
	switch t.Failure() {
	case result.NoSourcePort:
		return "the client has no free source port"
	case result.NoAddress:
		return "the server does not have that address"
	case result.Reset:
		return "the connection was closed from outside"
	case result.Unreachable:
		return "no way leads there, by what the sender or a router knows"
	case result.Denied:
		return "a firewall or a route of the sender refuses it"
	case result.TooLarge:
		return "it is larger than the sender's device or route takes"
	}
	return ""
}

// describe says what passes and where the packets of a trial that failed were lost.
func (e *Evidence) describe(t result.Trial) string {
	text := e.contrast()
	if l := e.lost(t); t.Failure() != result.NoSourcePort && t.Failure() != result.NoAddress {
		text += ": " + l.where()
	}
	if why := because(t); why != "" {
		text += ": " + why
	}
	return text
}

// look is a command that shows more of where a packet was lost, at a place.
func (e *Evidence) look(t result.Trial) (at, command, comment string) {
	l := e.lost(t)
	client, server := cmp.Or(e.Source, e.addressOn(e.Client, "eth0")), e.Dial
	from, to := client, server
	if l.reply {
		from, to = server, client
	}
	switch {
	case t.Failure() == result.NoSourcePort:
		return e.Client, "ss -tan state time-wait", "and compare with sysctl net.ipv4.ip_local_port_range"
	case t.Failure() == result.Refused:
		return cmp.Or(l.at, e.Server), "ss -lntup", "if nothing listens at the port: nft list ruleset shows what leads elsewhere, conntrack -L where connections were led"
	case l.at == "" || from == "" || to == "":
		return cmp.Or(l.at, e.Client), "ip -s -s link", "then check the drop counters, the routes and the firewall there"
	case l.server:
		return l.at, "ip route get " + client, "if that leads back: nft list ruleset, ss -lntup"
	case l.device == "":
		return l.at, "ip route get " + to, "if that is a route: nft list ruleset"
	case l.out:
		return l.at, "ip -s -s link show dev " + l.device, "then the same at the next place: nothing came in there"
	}
	return l.at, fmt.Sprintf("ip route get %s from %s iif %s", to, from, l.device),
		fmt.Sprintf("if that leads on: nft list ruleset; tc -s filter show dev %s ingress; ip xfrm policy", l.device)
}
