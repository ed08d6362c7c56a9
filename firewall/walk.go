package firewall

import (
	"cmp"
	"slices"
	"strings"
)

// Chain is one list of rules of a place.
type Chain struct {
	Name     string // family, table and name: "ip filter FORWARD"
	Hook     string // through which packets enter it: "forward"; empty: another chain jumps to it
	Device   string // of a chain at ingress or egress: "eth0", or several, "eth0, br0"
	Priority int
	Policy   string // "drop"
	Listed   []Listed
}

// Listed is a rule at its place in a chain.
type Listed struct {
	Handle string // by which it is deleted; that of a policy is "policy"
	Rule   Rule
}

// Family is the family of a chain's table.
func (c Chain) Family() string {
	family, _, _ := strings.Cut(c.Name, " ")
	return family
}

// Step is one thing that rules may do to a packet.
type Step struct {
	Chain *Chain // by which the packet entered
	In    string // the name of the rule's chain
	Listed
	Act     string
	Element string // of a map, whose verdict it is: "10.0.0.2 . tcp . 80"
	Sure    bool   // else it depends on what is not known of the packet
	// After is the step that ends the packet's way through the chain before this one is met;
	// nil: it is met.
	After *Step
}

// Ends reports whether no more of the packet is seen.
func (s Step) Ends() bool {
	switch verb, _, _ := strings.Cut(s.Act, " "); verb {
	case "drop", "reject", "queue", "fwd":
		return true
	}
	return false
}

// Walk is what the rules of a place may do to packets at a hook, in the order in which they meet
// them. acted is what is known of a rule beside what it matches: Never where its counter shows
// that it met no packet; nil: nothing.
func Walk(chains []Chain, p Packet, hook string, acted func(chain string, l Listed) Answer) []Step {
	var bases []*Chain
	for n := range chains {
		if c := &chains[n]; c.Hook == hook && p.enters(c) {
			bases = append(bases, c)
		}
	}
	slices.SortStableFunc(bases, func(a, b *Chain) int { return cmp.Compare(a.Priority, b.Priority) })
	w := walk{chains: chains, packet: p, acted: acted}
	if acted == nil {
		w.acted = func(string, Listed) Answer { return Always }
	}
	for _, base := range bases {
		w.base, w.over, w.doubt = base, nil, false
		w.follow(base, true, 0)
		if w.ended {
			break
		}
		policy := Listed{Handle: "policy", Rule: Rule{Acts: []string{base.Policy}}}
		if base.Policy == "drop" && w.over == nil && w.acted(base.Name, policy) != Never {
			w.steps = append(w.steps, Step{Chain: base, In: base.Name, Listed: policy, Act: "drop", Sure: !w.doubt})
			if w.ended = !w.doubt; w.ended {
				break
			}
		}
	}
	return w.steps
}

// enters reports whether packets may come to a base chain, by its family and device.
func (p Packet) enters(c *Chain) bool {
	layer := p["layer"].Values // "bridge", "arp" or "ip"; of none both "bridge" and "ip"
	arp := slices.Equal(layer, []string{"arp"})
	switch family := c.Family(); family {
	case "bridge":
		return slices.Contains(layer, "bridge")
	case "netdev":
		return !arp && p.onOne(c.Device)
	case "inet":
		return !slices.Equal(layer, []string{"bridge"}) && !arp && (c.Device == "" || p.onOne(c.Device))
	case "arp":
		return arp
	default:
		return !slices.Equal(layer, []string{"bridge"}) && !arp && p.has("meta nfproto", map[bool]string{true: "ipv6", false: "ipv4"}[strings.HasPrefix(family, "ip6")]) != Never
	}
}

// onOne reports whether packets may pass one of some devices: "eth0, br0".
func (p Packet) onOne(devices string) bool {
	return slices.ContainsFunc(strings.Split(devices, ", "), func(device string) bool { return p.has("device", device) != Never })
}

// mostDepth is how deep chains may jump (NFT_JUMP_STACK_SIZE).
const mostDepth = 16

type walk struct {
	chains []Chain
	packet Packet
	acted  func(string, Listed) Answer
	base   *Chain
	steps  []Step
	over   *Step // it ended the way through the base chain
	doubt  bool  // something before may have ended it
	// untracked is what keeps the packet out of connection tracking, so that nothing translates it.
	untracked *Step
	ended     bool // no more of the packet is seen
}

// follow goes through a chain; sure: all packets come to it.
func (w *walk) follow(c *Chain, sure bool, depth int) {
	if depth > mostDepth {
		return
	}
	for _, l := range c.Listed {
		if w.acted(c.Name, l) == Never {
			continue
		}
		answer, mapped := Always, (*Match)(nil)
		for n, m := range l.Rule.Matches {
			if m.Verdicts != nil {
				mapped = &l.Rule.Matches[n]
			}
			answer = min(answer, w.packet.matches(m))
		}
		if answer == Never {
			continue
		}
		var leaves bool
		if mapped == nil {
			for _, act := range l.Rule.Acts {
				leaves = w.do(c, Step{Listed: l, Act: act, Sure: sure && answer == Always}, depth) || leaves
			}
		} else {
			leaves = w.look(c, l, mapped, sure && answer == Always, depth)
		}
		if leaves || w.ended {
			return
		}
	}
}

// look does what a map says of the packet.
func (w *walk) look(c *Chain, l Listed, m *Match, sure bool, depth int) (leaves bool) {
	for n := range m.Values {
		if fits := w.packet.fits(*m, n); fits != Never {
			leaves = w.do(c, Step{Listed: l, Act: m.Verdicts[n], Element: m.Values[n], Sure: sure && fits == Always}, depth) || leaves
		}
	}
	return leaves
}

// do follows one act, and reports whether the packet surely leaves the chain by it.
func (w *walk) do(c *Chain, s Step, depth int) (leaves bool) {
	s.Chain, s.In, s.After = w.base, c.Name, w.over
	verb, to, _ := strings.Cut(s.Act, " ")
	switch verb {
	case "counter", "log", "continue", "":
	case "return":
		return s.Sure
	case "jump", "goto":
		table := strings.TrimSuffix(c.Name, lastWord(c.Name))
		if at := slices.IndexFunc(w.chains, func(other Chain) bool { return other.Name == table+to }); at >= 0 {
			w.follow(&w.chains[at], s.Sure, depth+1)
		}
		return verb == "goto" && s.Sure
	case "notrack":
		w.steps = append(w.steps, s)
		if s.Sure && s.After == nil && w.untracked == nil {
			w.untracked = &s
		}
	case "accept", "dnat", "snat", "redirect", "masquerade":
		if w.untracked != nil && verb != "accept" {
			s.After = w.untracked
			w.steps = append(w.steps, s)
			return false
		}
		w.steps = append(w.steps, s)
		w.doubt = w.doubt || !s.Sure
		if s.Sure && w.over == nil {
			w.over = &s
			if verb == "dnat" {
				w.packet = w.packet.ledTo(strings.TrimPrefix(to, "to "))
			}
		}
	default:
		w.steps = append(w.steps, s)
		w.ended = s.Ends() && s.Sure && w.over == nil
	}
	return false
}

// lastWord is the name of a chain in its table.
func lastWord(name string) string { return name[strings.LastIndexByte(name, ' ')+1:] }
