// Package firewall is what the rules of netfilter do: a rule as a text like nft's, and the way of
// a packet through the rules of a place. It reads nothing: package probe does.
package firewall

import "strings"

// Rule is what one rule matches and does.
type Rule struct {
	Matches []Match  // all of them must hold
	Acts    []string // "counter", "ip ttl set 1", "drop", "jump DOCKER", "dnat to 10.102.0.2:80"
}

// Match compares what a packet has with values.
type Match struct {
	Key    string   // "ip daddr", "tcp dport & 0x00ff", several joined by " . "; unknown ones match perhaps
	Not    bool     // none of the values may fit
	Values []string // "10.102.0.0/16", "1024-65535", "eth*"; of several keys joined by " . "
	// Verdicts are what becomes of a packet that fits the value at the same place; nil: the
	// rule's acts follow.
	Verdicts []string
}

// The words between the parts of a rule's text.
const (
	toActs    = " -> "
	between   = "; "
	withNext  = " . "
	toVerdict = " : "
)

// String writes a rule: "iifname eth0; tcp dport { 22, 80 } -> counter; drop".
func (r Rule) String() string {
	matches := make([]string, len(r.Matches))
	for n, m := range r.Matches {
		matches[n] = m.String()
	}
	text := strings.Join(matches, between)
	if len(r.Acts) > 0 {
		text += toActs + strings.Join(r.Acts, between)
	}
	return strings.TrimSpace(text)
}

// String writes one match: "ip daddr = 10.0.0.1", "th dport != { 22, 80 }".
func (m Match) String() string {
	values, is := m.Values, " = "
	switch {
	case m.Verdicts != nil:
		is, values = " vmap ", make([]string, len(m.Values))
		for n, value := range m.Values {
			values[n] = value + toVerdict + m.Verdicts[n]
		}
	case m.Not:
		is = " != "
	}
	if m.Verdicts == nil && len(values) == 1 {
		return m.Key + is + values[0]
	}
	return m.Key + is + "{ " + strings.Join(values, ", ") + " }"
}

// Parse reads what String wrote. What it does not know matches perhaps.
func Parse(text string) Rule {
	var r Rule
	matches, acts, _ := strings.Cut(" "+text, toActs)
	for _, one := range strings.Split(strings.TrimSpace(matches), between) {
		if one != "" {
			r.Matches = append(r.Matches, parseMatch(one))
		}
	}
	if acts != "" {
		r.Acts = strings.Split(acts, between)
	}
	return r
}

func parseMatch(text string) Match {
	var m Match
	var values string
	for _, is := range []string{" vmap ", " != ", " = "} {
		key, after, found := strings.Cut(text, is)
		if !found {
			continue
		}
		m.Key, m.Not, values = key, is == " != ", after
		if is == " vmap " {
			m.Verdicts = []string{}
		}
		break
	}
	for _, value := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(values, "{ "), " }"), ", ") {
		if m.Verdicts != nil {
			var verdict string
			value, verdict, _ = strings.Cut(value, toVerdict)
			m.Verdicts = append(m.Verdicts, verdict)
		}
		m.Values = append(m.Values, value)
	}
	return m
}

// Counts reports whether the rule counts the packets that it matches.
func (r Rule) Counts() bool {
	for _, act := range r.Acts {
		if act == "counter" {
			return true
		}
	}
	return false
}

// Compares reports whether the rule compares something, as "limit" or "rpfilter".
func (r Rule) Compares(key string) bool {
	for _, m := range r.Matches {
		if m.Key == key {
			return true
		}
	}
	return false
}

// Brief writes a rule for people: without its counter.
func (r Rule) Brief() string {
	var acts []string
	for _, act := range r.Acts {
		if act != "counter" {
			acts = append(acts, act)
		}
	}
	return strings.ReplaceAll(strings.TrimPrefix(Rule{r.Matches, acts}.String(), "-> "), " = ", " ")
}
