package diagnose

import (
	"slices"
	"strconv"
	"strings"

	"tare/catalog"
	"tare/firewall"
	"tare/result"
)

// passage is a hook of netfilter at a place that the packets of a trial meet.
type passage struct {
	at, hook string
	packet   firewall.Packet
	reply    bool
	tunnel   string // the device whose packets carry those of the trial; empty: it is these themselves
}

// met is what the rules of a place do to the packets of a trial, or may do.
type met struct {
	firewall.Step
	passage
	counted float64 // packets that the rule counted during the trials
}

// met are the steps at all places on a trial's way, there and back.
func (e *Evidence) met(t result.Trial) []met {
	var all []met
	for _, p := range e.passages(t) {
		counts := e.ruleCounts(p.at)
		for _, s := range firewall.Walk(e.chains(p.at), p.packet, p.hook, e.acted(p.at, counts)) {
			all = append(all, met{s, p, grown(counts, s.In, s.Handle)})
		}
	}
	return all
}

// acted says of a rule of a place that counts whether it met any packet during the trials.
func (e *Evidence) acted(at string, counts map[string]float64) func(string, firewall.Listed) firewall.Answer {
	return func(chain string, l firewall.Listed) firewall.Answer {
		counting := l.Rule.Counts() || l.Handle == policyHandle && e.state(at, rules)[chain+".counts"] == true
		if counting && grown(counts, chain, l.Handle) == 0 && !e.unread(rules) {
			return firewall.Never
		}
		return firewall.Always
	}
}

// policyHandle is the place of a policy among the handles of a chain's rules.
const policyHandle = "policy"

// grown is what a rule counted: "ip filter FORWARD 7 drop".
func grown(counts map[string]float64, chain, handle string) (packets float64) {
	for name, n := range counts {
		if strings.HasPrefix(name, chain+" "+handle+" ") {
			packets += n
		}
	}
	return packets
}

// ruleCounts are the packets that matched each rule and policy of a place that
// counts.
func (e *Evidence) ruleCounts(at string) map[string]float64 {
	sums := map[string]float64{}
	for _, r := range e.Readings {
		if r.At == at && r.Source == rules {
			for name, n := range r.Counts {
				sums[name] += n
			}
		}
	}
	return sums
}

// chains are the rules of a place.
func (e *Evidence) chains(at string) []firewall.Chain {
	if all, known := e.walls[at]; known {
		return all
	}
	var all []firewall.Chain
	for _, name := range e.names(at, rules, ".rules") {
		c := firewall.Chain{
			Name: name, Hook: e.word(at, rules, name+".hook"), Policy: e.word(at, rules, name+".policy"),
			Device: e.word(at, rules, name+".device"), Priority: int(e.number(at, rules, name+".priority")),
		}
		for _, handle := range strings.Fields(e.word(at, rules, name+".handles")) {
			c.Listed = append(c.Listed, firewall.Listed{Handle: handle, Rule: firewall.Parse(e.word(at, rules, name+" "+handle))})
		}
		all = append(all, c)
	}
	if e.walls == nil {
		e.walls = map[string][]firewall.Chain{}
	}
	e.walls[at] = all
	return all
}

// passages are the hooks on the way of a trial's packets, there and back.
func (e *Evidence) passages(t result.Trial) []passage {
	var all []passage
	back := slices.Clone(e.Places)
	slices.Reverse(back)
	for _, reply := range []bool{false, true} {
		from, to, way := e.Client, e.Server, e.Places
		if reply {
			from, to, way = to, from, back
		}
		for _, at := range way {
			hooks := e.hooksBetween(t, at, reply)
			switch at {
			case from:
				hooks = []string{"output", "postrouting", "egress"}
			case to:
				hooks = []string{"ingress", "prerouting", "input"}
			}
			for _, hook := range hooks {
				all = append(all, passage{at: at, hook: hook, packet: e.packet(t, at, hook, reply), reply: reply})
			}
			all = append(all, e.bridgedPassages(t, at, reply)...)
			all = append(all, e.tunnelPassages(t, at, reply)...)
		}
	}
	return all
}

// hooksBetween are those of a host that is no end: it forwards, or it takes what is for an
// address that it has and no rule translates.
func (e *Evidence) hooksBetween(t result.Trial, at string, reply bool) []string {
	kind, _ := catalog.FindNetwork(e.Network)
	own := e.owner(e.Dial) == at && at != e.Server
	switch {
	case e.bridged() && !e.handsOver(at):
		return []string{"ingress", "egress"}
	case own && (kind.Facts.Relays || !e.published(t, at)) && !reply:
		return []string{"ingress", "prerouting", "input"}
	case own && (kind.Facts.Relays || !e.published(t, at)):
		return []string{"output", "postrouting", "egress"}
	}
	return []string{"ingress", "prerouting", "forward", "postrouting", "egress"}
}

// handsOver reports whether bridges of a place hand what they pass to iptables: all by a setting, or
// one by its own.
func (e *Evidence) handsOver(at string) bool {
	return e.number(at, sysctls, "bridge/bridge-nf-call-iptables") == 1 || slices.ContainsFunc(e.names(at, links, ".nf_call_iptables"), func(bridge string) bool { return e.up(at, bridge) })
}

// bridged reports whether the packets pass the hosts within a bridge: the server is on the
// client's own link.
func (e *Evidence) bridged() bool {
	way, found := e.route(e.Client, e.Dial)
	return found && !way.Via.IsValid() && e.owner(e.Dial) == e.Server && e.Client != hostOf(e.Client)
}

// published reports whether a rule of a host translates what is dialled.
func (e *Evidence) published(t result.Trial, at string) bool {
	for _, s := range firewall.Walk(e.chains(at), e.packet(t, at, "prerouting", false), "prerouting", nil) {
		if strings.HasPrefix(s.Act, "dnat") && s.After == nil {
			return true
		}
	}
	return false
}

// bridgedPassages are the hooks of bridges: of what is passed within one, and of what a bridge
// takes for its host and sends for it.
func (e *Evidence) bridgedPassages(t result.Trial, at string, reply bool) []passage {
	if len(e.ofKind(at, "bridge")) == 0 {
		return nil
	}
	hooks := []string{"prerouting", "input", "output", "postrouting"}
	if e.bridged() {
		hooks = []string{"prerouting", "forward", "postrouting"}
	}
	var all []passage
	for _, hook := range hooks {
		p := e.packet(t, at, hook, reply)
		delete(p, "iifname")
		delete(p, "oifname")
		p["layer"] = firewall.Of("bridge")
		all = append(all, passage{at: at, hook: hook, packet: p, reply: reply})
	}
	return all
}

// tunnelPassages are the hooks of a host that the packets around those of the trial meet.
func (e *Evidence) tunnelPassages(t result.Trial, at string, reply bool) []passage {
	near, far := hostOf(e.Client), hostOf(e.Server)
	if reply {
		near, far = far, near
	}
	tunnels := e.ofKind(at, "vxlan", "geneve", "ipip", "gre", "wireguard")
	if near == far || at != near && at != far || len(tunnels) == 0 {
		return nil
	}
	hooks, device := []string{"output", "postrouting", "egress"}, "oifname"
	if at == far {
		hooks, device = []string{"ingress", "prerouting", "input"}, "iifname"
	}
	p := firewall.Packet{
		"meta nfproto": firewall.Of("ipv4"), "layer": firewall.Of("ip"), "ct state": unknownState("new", "established"), "ip frag-off": firewall.Of("0", "16384"),
		"ip saddr": e.field(e.addressOn(near, "eth0")), "ip daddr": e.field(e.addressOn(far, "eth0")), device: firewall.Of("eth0"), "device": firewall.Of("eth0"),
		"meta l4proto": firewall.Of("udp"),
	}
	switch kind := e.word(at, links, tunnels[0]+".kind"); kind {
	case "vxlan":
		p["th dport"] = firewall.Of(strconv.Itoa(int(e.number(at, links, tunnels[0]+".port"))))
	case "ipip", "gre":
		p["meta l4proto"] = firewall.Of(kind)
	}
	if mtu := e.number(at, links, "eth0.mtu"); mtu > 0 && t.Size+datagramHeaders+e.MTU-e.Inner > int(mtu) {
		p["ip frag-off"] = firewall.Of(fragments()...)
	}
	var all []passage
	for _, hook := range hooks {
		all = append(all, passage{at: at, hook: hook, packet: p, reply: reply, tunnel: tunnels[0]})
	}
	return all
}

// ofKind are the devices of a place that are of a kind.
func (e *Evidence) ofKind(at string, kinds ...string) []string {
	return slices.DeleteFunc(e.names(at, links, ".kind"), func(device string) bool {
		return !slices.Contains(kinds, e.word(at, links, device+".kind"))
	})
}
