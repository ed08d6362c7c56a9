package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tare/firewall"
	"tare/result"
)

// translated is the place whose rules give the packets of a trial another destination, and the step
// that does.
type translated struct {
	at   string // empty: none does
	step firewall.Step
}

// transport is the protocol of a trial: "tcp", "udp".
func transport(t result.Trial) string {
	protocol, _, _ := strings.Cut(t.Workload, "_")
	return protocol
}

// translator is what gives a trial's packets another destination first.
func (e *Evidence) translator(t result.Trial) translated {
	key := fmt.Sprintf("%s %d", transport(t), t.IP)
	if by, known := e.leads[key]; known {
		return by
	}
	if e.leads == nil {
		e.leads = map[string]translated{}
	}
	e.leads[key] = translated{} // what is asked for meanwhile does not depend on it
	for _, at := range e.Places {
		if at == e.Server {
			break
		}
		if s, found := e.dnat(t, at); found {
			e.leads[key] = translated{at, s}
			break
		}
	}
	return e.leads[key]
}

// enters is the hook at which rules of a place translate where the client's packets go.
func (e *Evidence) enters(at string) string {
	if at == e.Client {
		return "output"
	}
	return "prerouting"
}

// dnat is the rule of a place that gives a trial's packets another destination.
func (e *Evidence) dnat(t result.Trial, at string) (firewall.Step, bool) {
	return result.First(e.destinations(t, at), func(s firewall.Step) bool { return s.After == nil })
}

// destinations are the rules of a place that give a trial's packets another destination, or would if they
// were met.
func (e *Evidence) destinations(t result.Trial, at string) []firewall.Step {
	hook := e.enters(at)
	all := firewall.Walk(e.chains(at), e.packet(t, at, hook, false), hook, nil)
	return slices.DeleteFunc(all, func(s firewall.Step) bool {
		return !strings.HasPrefix(s.Act, "dnat") && !strings.HasPrefix(s.Act, "redirect")
	})
}

// dnats reports whether a place has a rule that gives any packets another destination.
func (e *Evidence) dnats(at string) bool {
	return slices.ContainsFunc(e.chains(at), func(c firewall.Chain) bool {
		return slices.ContainsFunc(c.Listed, func(l firewall.Listed) bool {
			return slices.ContainsFunc(l.Rule.Acts, func(act string) bool { return strings.HasPrefix(act, "dnat") })
		})
	})
}

// otherwise reports whether a place would lead a trial's packets to the server without a rule.
func (e *Evidence) otherwise(t result.Trial, m met) bool {
	acted := func(chain string, l firewall.Listed) firewall.Answer {
		if chain == m.In && l.Handle == m.Handle {
			return firewall.Never
		}
		return firewall.Always
	}
	server := e.addressOn(e.Server, "eth0")
	for _, s := range firewall.Walk(e.chains(m.at), m.packet, m.hook, acted) {
		if s.After == nil && strings.HasPrefix(s.Act, "dnat") && slices.Contains(addressesOf(s.Act), server) {
			return true
		}
	}
	return e.owner(e.Dial) == e.Server || e.owner(e.Dial) == m.at && e.relays()
}

// addressesOf are those that a translation gives: of "dnat to { 10.102.0.2:80, 10.102.0.3:80 }".
func addressesOf(act string) (all []string) {
	_, to, _ := strings.Cut(act, " to ")
	for _, one := range strings.Split(strings.Trim(to, "{ }"), ", ") {
		all = append(all, plain(one))
	}
	return all
}

// lead is the command by which a place gives what is dialled over some protocols the server's own
// address, in a chain that is named, else where packets come to; empty: what it needs
// is not known.
func (e *Evidence) lead(at, hook, chain string, protocols ...string) string {
	server, family := e.addressOn(e.Server, "eth0"), "ip"
	six := strings.Contains(e.Dial, ":")
	if server == "" || e.Port == 0 || six != strings.Contains(server, ":") {
		return ""
	}
	to := fmt.Sprintf("%s:%d", server, e.Port)
	if six {
		family, to = "ip6", fmt.Sprintf("[%s]:%d", server, e.Port)
	}
	chain = cmp.Or(chain, e.natChain(at, hook))
	words := strings.Fields(chain)
	rule := fmt.Sprintf("%s daddr %s meta l4proto %s th dport %d dnat %[1]s to %[5]s", family, e.Dial, among(protocols), e.Port, to)
	switch {
	case len(words) != 3:
		chain = family + " tare " + hook
		return fmt.Sprintf("nft 'add table %s tare; add chain %s { type nat hook %s priority %d; }; add rule %[2]s %[5]s'", family, chain, hook, dstnat, rule)
	case words[1] == "nat" && words[0] != "inet":
		tool := cmp.Or(map[string]string{"ip": "iptables", "ip6": "ip6tables"}[words[0]], words[0])
		var commands []string
		for _, protocol := range protocols {
			commands = append(commands, fmt.Sprintf("%s -t nat -I %s -d %s -p %s --dport %d -j DNAT --to-destination %s", tool, words[2], e.Dial, protocol, e.Port, to))
		}
		return strings.Join(commands, " && ")
	}
	return fmt.Sprintf("nft 'insert rule %s %s'", chain, rule)
}

// unled are the protocols of which nothing passed.
func (e *Evidence) unled() (protocols []string) {
	for _, protocol := range []string{"tcp", "udp"} {
		if of := e.small(protocol, 0); of.failed > 0 && of.passed == 0 {
			protocols = append(protocols, protocol)
		}
	}
	return protocols
}

// dstnat is the priority of chains that translate where packets go.
const dstnat = -100

// natChain is the chain of a place in which such a rule belongs; empty: it has none.
func (e *Evidence) natChain(at, hook string) string {
	for _, c := range e.chains(at) {
		if c.Hook == hook && c.Priority == dstnat && c.Family() != "bridge" {
			return c.Name
		}
	}
	return ""
}
