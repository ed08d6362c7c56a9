package firewall

import (
	"slices"
	"strings"
	"testing"
)

// web is a packet of a request from one container to another.
func web() Packet {
	return Packet{
		"meta nfproto": Of("ipv4"), "meta l4proto": Of("tcp"), "ip saddr": Of("10.101.0.2"), "ip daddr": Of("10.102.0.2"),
		"th dport": Of("5210"), "th sport": Of("32768-60999"), "iifname": Of("eth0"), "oifname": Of("br0"),
		"ct state": {Values: []string{"new"}, Also: []string{"invalid"}}, "ip frag-off": Of("16384"),
	}
}

func TestRulesMatchThePacket(t *testing.T) {
	for text, want := range map[string]Answer{
		"-> drop":                                                                  Always,
		"ip daddr = 10.102.0.0/16 -> drop":                                         Always,
		"ip daddr = 10.102.0.3 -> drop":                                            Never,
		"ip daddr != 10.102.0.3 -> drop":                                           Always,
		"ip saddr = 10.101.0.0-10.101.0.9 -> drop":                                 Always,
		"ip saddr = 10.101.0.2-10.101.0.9 -> drop":                                 Always,
		"ip saddr = 10.101.0.0-10.101.0.2 -> drop":                                 Always,
		"ip saddr = 10.101.0.3-10.101.0.9 -> drop":                                 Never,
		"ip saddr = 10.101.0.0-10.101.0.1 -> drop":                                 Never,
		"ip saddr = 10.101.0.0-x -> drop":                                          Never,
		"th dport = { 22, 5000-6000 } -> drop":                                     Always,
		"th dport = 5000-5210 -> drop":                                             Always,
		"th dport = 5210-6000 -> drop":                                             Always,
		"th dport = { 22, 23 } -> drop":                                            Never,
		"th dport != { 22, 23 } -> drop":                                           Always,
		"th sport = 22 -> drop":                                                    Never,
		"th sport = 1024-65535 -> drop":                                            Always,
		"th sport = 40000 -> drop":                                                 Perhaps,
		"th sport = 1024-32768 -> drop":                                            Perhaps,
		"th sport = 60999-65535 -> drop":                                           Perhaps,
		"th sport = 61000-65535 -> drop":                                           Never,
		"iifname = wg0 -> drop":                                                    Never,
		"iifname = et* -> drop":                                                    Always,
		"ct state = invalid -> drop":                                               Perhaps,
		"ct state = { established, related } -> accept":                            Never,
		"ct state != { established, related } -> drop":                             Always,
		"ip frag-off & 0x3fff != 0 -> counter; drop":                               Never,
		"meta mark = 1 -> drop":                                                    Perhaps,
		"rpfilter != ? -> drop":                                                    Perhaps,
		"ip daddr . meta l4proto . th dport = { 10.102.0.2 . tcp . 5210 } -> drop": Always,
		"ip daddr . meta l4proto . th dport = { 10.102.0.2 . udp . 5210 } -> drop": Never,
		"ip daddr . meta mark = { 10.102.0.2 . 4 } -> drop":                        Perhaps,
	} {
		rule := Parse(text)
		answer := Always
		for _, m := range rule.Matches {
			answer = min(answer, web().matches(m))
		}
		if answer != want {
			t.Errorf("%s: %v, want %v (read as %+v)", text, answer, want, rule)
		}
	}
}

// The text of a rule is what people read of it, without its counter: no set of one value, no arrow
// to nothing.
func TestRulesAreBrief(t *testing.T) {
	for text, brief := range map[string]string{
		"-> counter; drop": "drop",
		"ip daddr != 10.0.0.0/8 -> counter; jump DOCKER":                "ip daddr != 10.0.0.0/8 -> jump DOCKER",
		"ct state = { new, related } -> accept":                         "ct state { new, related } -> accept",
		"iifname = eth0 -> counter":                                     "iifname eth0",
		"ip daddr . th dport vmap { 10.0.0.1 . 80 : drop } -> map none": "ip daddr . th dport vmap { 10.0.0.1 . 80 : drop } -> map none",
		"th dport vmap { 80 : drop, 443 : goto x }":                     "th dport vmap { 80 : drop, 443 : goto x }",
	} {
		rule := Parse(text)
		if got := rule.Brief(); got != brief || rule.String() != text {
			t.Errorf("%q is %q, in brief %q; want %q", text, rule, got, brief)
		}
	}
}

func TestRulesAreWrittenAndReadAlike(t *testing.T) {
	for _, r := range []Rule{
		{},
		{Acts: []string{"counter", "drop"}},
		{Matches: []Match{{Key: "ip daddr", Not: true, Values: []string{"10.0.0.0/8"}}}, Acts: []string{"jump DOCKER"}},
		{Matches: []Match{{Key: "ct state", Values: []string{"new", "related"}}, {Key: "tcp flags & 0x3", Values: []string{"2"}}}, Acts: []string{"queue 7-9 bypass"}},
		{Matches: []Match{{Key: "ip daddr . th dport", Values: []string{"::1 . 80", "10.0.0.1 . 443"}, Verdicts: []string{"drop", "goto x"}}}},
	} {
		if again := Parse(r.String()); again.String() != r.String() || len(again.Matches) != len(r.Matches) || len(again.Acts) != len(r.Acts) {
			t.Errorf("%q is read as %q", r, again)
		}
	}
}

// chains makes those of a place: "ip filter FORWARD forward 0 drop: RULE | RULE".
func chains(t *testing.T, lines ...string) []Chain {
	t.Helper()
	var all []Chain
	for _, line := range lines {
		head, rules, _ := strings.Cut(line, ": ")
		words := strings.Fields(head)
		c := Chain{Name: strings.Join(words[:3], " ")}
		if len(words) > 4 {
			c.Hook, c.Policy = words[3], words[4]
		}
		for n, text := range strings.Split(rules, " | ") {
			if text != "" {
				c.Listed = append(c.Listed, Listed{Handle: string(rune('1' + n)), Rule: Parse(text)})
			}
		}
		all = append(all, c)
	}
	return all
}

// steps are what may happen, in short: "ip filter FORWARD 2 drop", with a question mark where it
// is not sure, and in brackets where the packet has left the chain before.
func steps(all []Step) []string {
	var found []string
	for _, s := range all {
		text := s.In + " " + s.Handle + " " + s.Act
		if !s.Sure {
			text += "?"
		}
		if s.After != nil {
			text = "(" + text + ")"
		}
		found = append(found, text)
	}
	return found
}

func TestPacketsGoThroughChains(t *testing.T) {
	for name, c := range map[string]struct{ chains, want []string }{
		"a policy, as nothing accepts": {
			[]string{"ip filter FORWARD forward drop: ct state = { established, related } -> accept"},
			[]string{"ip filter FORWARD policy drop"},
		},
		"an accept ends its own chain only (kube-router#1069)": {
			[]string{"ip filter FORWARD forward drop: -> counter; accept", "inet fw f forward drop: "},
			[]string{"ip filter FORWARD 1 accept", "inet fw f policy drop"},
		},
		"a drop ends the way through all chains": {
			[]string{"ip filter FORWARD forward accept: -> drop | -> reject", "inet fw f forward drop: "},
			[]string{"ip filter FORWARD 1 drop"},
		},
		"a drop after an accept ends nothing": {
			[]string{"ip filter FORWARD forward accept: -> accept | -> drop", "inet fw f forward drop: "},
			[]string{"ip filter FORWARD 1 accept", "(ip filter FORWARD 2 drop)", "inet fw f policy drop"},
		},
		"a drop after an accept is not met": {
			[]string{"ip filter FORWARD forward accept: -> accept | -> drop"},
			[]string{"ip filter FORWARD 1 accept", "(ip filter FORWARD 2 drop)"},
		},
		"a jump comes back, a goto does not": {
			[]string{"ip filter FORWARD forward accept: -> jump A | -> goto B | -> drop", "ip filter A: th dport = 22 -> drop | -> return | -> drop", "ip filter B: ip daddr = 10.102.0.2 -> drop"},
			[]string{"ip filter B 1 drop"},
		},
		"a jump to the chain that is listed first": {
			[]string{"ip filter A: th dport = 5210 -> drop", "ip filter FORWARD forward accept: -> jump A"},
			[]string{"ip filter A 1 drop"},
		},
		"what depends on a mark leaves a doubt": {
			[]string{"ip filter FORWARD forward drop: meta mark = 7 -> accept"},
			[]string{"ip filter FORWARD 1 accept?", "ip filter FORWARD policy drop?"},
		},
		"a verdict of a map (kubernetes#131765)": {
			[]string{"ip kube f forward accept: ip daddr . th dport vmap { 10.102.0.9 . 5210 : accept, 10.102.0.2 . 5210 : drop } -> map none"},
			[]string{"ip kube f 1 drop"},
		},
		"another hook, family or device": {
			[]string{"ip filter INPUT input drop: ", "ip6 filter FORWARD forward drop: ", "bridge x f forward drop: "},
			nil,
		},
		"a chain that jumps to itself": {
			[]string{"ip a b forward accept: -> jump b"},
			nil,
		},
	} {
		p := web()
		p["layer"] = Of("ip")
		if got := steps(Walk(chains(t, c.chains...), p, "forward", nil)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Chains that come after a translation at the same hook see its target (kube-proxy's mode nftables rejects
// what still goes to an address of a Service).
func TestLaterChainsSeeWhereAPacketIsLed(t *testing.T) {
	for to, want := range map[string][]string{
		"10.102.0.2:8080":                  {"ip nat out 1 dnat to 10.102.0.2:8080", "ip filter out 2 drop"},
		"10.102.0.2":                       {"ip nat out 1 dnat to 10.102.0.2", "ip filter out 2 drop"},
		"{ 10.102.0.2:80, 10.102.0.3:80 }": {"ip nat out 1 dnat to { 10.102.0.2:80, 10.102.0.3:80 }", "ip filter out 2 drop?"},
		"10.102.0.2-10.102.0.9":            {"ip nat out 1 dnat to 10.102.0.2-10.102.0.9", "ip filter out 1 reject?", "ip filter out 2 drop?"},
	} {
		all := chains(t, "ip nat out output accept: -> dnat to "+to, "ip filter out output accept: ip daddr = 10.96.0.1 -> reject | ip daddr = 10.102.0.2 -> drop")
		all[0].Priority = -100
		p := Packet{"layer": Of("ip"), "ip daddr": Of("10.96.0.1"), "th dport": Of("80")}
		if got := steps(Walk(all, p, "output", nil)); !slices.Equal(got, want) {
			t.Errorf("to %s: %v, want %v", to, got, want)
		}
		if !slices.Equal(p["ip daddr"].Values, []string{"10.96.0.1"}) {
			t.Errorf("to %s: the packet itself was changed: %v", to, p)
		}
	}
}

func TestRulesThatCountedNothingMetNothing(t *testing.T) {
	all := chains(t, "ip filter FORWARD forward drop: -> counter; drop | -> accept")
	idle := func(_ string, l Listed) Answer {
		if l.Rule.Counts() {
			return Never
		}
		return Always
	}
	if got := steps(Walk(all, web(), "forward", idle)); !slices.Equal(got, []string{"ip filter FORWARD 2 accept"}) {
		t.Errorf("%v", got)
	}
}
