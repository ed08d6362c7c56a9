package diagnose

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"tare/firewall"
	"tare/result"
)

// packet is what is known of a trial's packets where they meet a hook of a place.
func (e *Evidence) packet(t result.Trial, at, hook string, reply bool) firewall.Packet {
	p := firewall.Packet{
		"layer": firewall.Of("ip"), "device": firewall.Of(e.devices(at)...), "ct state": unknownState("new"),
		"meta nfproto": firewall.Of("ipv4"), "meta protocol": firewall.Of("ip"), "meta l4proto": firewall.Of("tcp"),
		"meta length": {Values: []string{"0-128"}}, "ip frag-off": {Values: []string{"0", "16384"}},
	}
	if reply || t.Size > smallest {
		p["ct state"] = unknownState("established")
	}
	if t.Size > smallest {
		p["meta length"] = firewall.Field{Values: []string{strconv.Itoa(t.Size + segmentHeaders)}, Also: []string{"0-128"}}
	}
	if strings.HasPrefix(t.Workload, "udp") {
		p["meta l4proto"], p["meta length"] = firewall.Of("udp"), firewall.Of(strconv.Itoa(t.Size+datagramHeaders))
		if e.MTU > 0 && t.Size+datagramHeaders > e.MTU {
			p["ip frag-off"] = firewall.Of(fragments()...)
		}
	}
	for key, device := range map[string]string{"iifname": e.devicePassed(at, hook, reply, false), "oifname": e.devicePassed(at, hook, reply, true)} {
		if device != "" {
			p[key] = firewall.Of(device)
		}
	}
	e.addAddresses(t, p, at, hook, reply)
	return p
}

// addAddresses adds addresses and ports.
func (e *Evidence) addAddresses(t result.Trial, p firewall.Packet, at, hook string, reply bool) {
	source, to := "ip saddr", "ip daddr"
	dialled := 4
	if address, err := netip.ParseAddr(e.Dial); err == nil && address.Unmap().Is6() {
		dialled = 6
	}
	if cmp.Or(t.IP, dialled) == 6 {
		p["meta nfproto"], p["meta protocol"], source, to = firewall.Of("ipv6"), firewall.Of("ip6"), "ip6 saddr", "ip6 daddr"
	}
	from, port := "th sport", "th dport"
	if reply {
		source, to, from, port = to, source, port, from
	}
	if cmp.Or(t.IP, dialled) == dialled { // else nothing names the addresses
		p[source], p[to] = e.clientAt(t, at, hook, reply), e.serverAt(t, at, hook, reply)
		if !reply {
			p["fib daddr type"] = firewall.Field{Values: e.kindsAt(at, p[to].Values), Also: e.kindsAt(at, p[to].Also)}
		}
	}
	if e.Port != 0 {
		p[port] = firewall.Of(strconv.Itoa(e.Port))
	}
	if ports := e.word(e.Client, sysctls, "ipv4/ip_local_port_range"); ports != "" && !e.translates("masquerade", "snat") {
		p[from] = firewall.Of(strings.ReplaceAll(ports, " ", "-"))
	}
}

// kindsAt are what a place takes addresses for: "local", its own, or "unicast".
func (e *Evidence) kindsAt(at string, addresses []string) (kinds []string) {
	for _, address := range addresses {
		kind := "unicast"
		if e.deviceOf(at, address) != "" {
			kind = "local"
		}
		kinds = result.AddOnce(kinds, kind)
	}
	return kinds
}

// unknownState is that of a connection, which a place may take for another: it may not see both
// directions, and iptables counts translations among the states.
func unknownState(is ...string) firewall.Field {
	return firewall.Field{Values: is, Also: []string{"invalid", "untracked", "snat", "dnat"}}
}

// fragments are the flags and places of the parts of a packet: the first, and one after it.
func fragments() []string { return []string{"8192", "185"} }

// clientAt is the client's address, or that of its host which a rule there gives it.
func (e *Evidence) clientAt(t result.Trial, at, hook string, reply bool) firewall.Field {
	own, host := e.addressToward(e.Client, e.Dial), hostOf(e.Client)
	if own == "" {
		return firewall.Field{}
	}
	seen := e.addressToward(host, e.Dial)
	if at == e.Client || at == host {
		f := firewall.Of(own)
		if hook == "postrouting" && !reply && seen != "" {
			f.Also = []string{seen}
		}
		return f
	}
	for _, s := range firewall.Walk(e.chains(host), e.packet(t, host, "postrouting", false), "postrouting", nil) {
		verb, to, _ := strings.Cut(s.Act, " to ")
		given := seen
		if verb == "snat" && plain(to) != "" {
			given = plain(to)
		}
		switch {
		case verb != "masquerade" && verb != "snat" || s.After != nil || given == "":
		case s.Sure:
			return firewall.Of(given)
		default:
			return firewall.Of(own, given)
		}
	}
	return firewall.Of(own)
}

// serverAt is the server's address, or that at which the client reaches it.
func (e *Evidence) serverAt(t result.Trial, at, hook string, reply bool) firewall.Field {
	if e.owner(e.Dial) == e.Server || e.Dial == "" {
		return e.field(e.Dial)
	}
	own := e.addressOn(e.Server, "eth0")
	if strings.Contains(own, ":") != strings.Contains(e.Dial, ":") {
		return e.field(e.Dial) // only the other version's are known
	}
	by := e.translator(t)
	translator, way := cmp.Or(by.at, hostOf(e.Server)), slices.Index(e.Places, at)
	first := slices.Index(e.Places, translator)
	switch {
	case at == e.Server || own == "" && at == translator:
		return e.field(own)
	case way < first:
		return e.field(e.Dial)
	case at == translator && (!reply && hook == e.enters(at) || reply && hook == "postrouting"):
		return firewall.Field{Values: []string{e.Dial}, Also: []string{own}}
	case by.step.Sure && plain(addressesOf(by.step.Act)[0]) != "":
		return firewall.Of(addressesOf(by.step.Act)...)
	}
	return firewall.Field{Values: []string{own}, Also: []string{e.Dial}}
}

// field is of one value, unless it is not known.
func (e *Evidence) field(value string) firewall.Field {
	if value == "" {
		return firewall.Field{}
	}
	return firewall.Of(value)
}

// addressToward is the address by which a place sends to another; empty: it is not known.
func (e *Evidence) addressToward(at, peer string) string {
	own := e.addressOn(at, "eth0")
	if way, found := e.route(at, peer); found && e.addressOn(at, way.Device) != "" {
		own = e.addressOn(at, way.Device)
	}
	if strings.Contains(own, ":") != strings.Contains(peer, ":") {
		return "" // of the other version of IP
	}
	return own
}

// translates reports whether a rule of some place changes packets so.
func (e *Evidence) translates(verbs ...string) bool {
	for _, at := range e.Places {
		for _, c := range e.chains(at) {
			for _, l := range c.Listed {
				for _, act := range l.Rule.Acts {
					if verb, _, _ := strings.Cut(act, " "); slices.Contains(verbs, verb) {
						return true
					}
				}
			}
		}
	}
	return false
}

// devicePassed is the device by which a trial's packets come to a place, or leave it, as netfilter
// names it: of a port its bridge; empty: it is not known.
func (e *Evidence) devicePassed(at, hook string, reply, out bool) string {
	if out && slices.Contains([]string{"ingress", "prerouting", "input"}, hook) || !out && slices.Contains([]string{"output", "postrouting", "egress"}, hook) {
		return "" // postrouting knows it, and only where it is forwarded
	}
	if !out {
		for _, t := range e.Trials {
			for _, s := range t.Seen {
				if s.At == at && s.Reply == reply && !s.Out {
					return e.overPort(at, s.Device)
				}
			}
		}
	}
	to := e.Dial
	if e.owner(e.Dial) != e.Server && at == hostOf(e.Server) {
		to = e.addressOn(e.Server, "eth0")
	}
	if reply == out {
		to = e.addressToward(e.Client, e.Dial)
	}
	if at == e.Client && e.owner(to) == at || at == e.Server && e.owner(to) == at {
		return ""
	}
	way, _ := e.route(at, to)
	return e.overPort(at, way.Device)
}

// overPort is the bridge of a port, and any other device itself.
func (e *Evidence) overPort(at, device string) string {
	if master := e.word(at, links, device+".master"); master != "" {
		return master
	}
	return device
}
