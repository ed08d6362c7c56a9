package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"tare/firewall"
	"tare/result"
)

// verdicts are the rules and policies that ended the packets of a trial which failed, as far as
// it is known, where they were lost. One that would have ended those of a trial which passed has
// not, and one that counted far fewer than were lost neither.
func (e *Evidence) verdicts(anywhere bool) []met {
	var found []met
	passed := e.passedVerdicts()
	for _, t := range e.Trials {
		places := e.suspectsOf(t)
		if t.Error == "" {
			continue
		}
		for _, m := range e.met(t) {
			named := slices.ContainsFunc(found, func(f met) bool { return f.same(m) })
			switch {
			case !m.Ends() || m.After != nil || named || e.lost(t).otherWay(m.reply) || !anywhere && !slices.Contains(places, m.at):
			case m.Rule.Compares("numgen") || !e.unread(rules) && e.innocent(t, m):
			case slices.ContainsFunc(passed, m.same):
			default:
				found = append(found, m)
			}
		}
	}
	return found
}

// metInVain are the rules, each once, that trials which failed may have met, and of which something
// holds.
func (e *Evidence) metInVain(holds func(met) bool) (found []met) {
	for _, t := range e.Trials {
		if t.Error == "" {
			continue
		}
		for _, m := range e.met(t) {
			if m.After == nil && !slices.ContainsFunc(found, m.same) && holds(m) {
				found = append(found, m)
			}
		}
	}
	return found
}

// same reports whether two are of the same rule.
func (m met) same(other met) bool {
	return m.at == other.at && m.In == other.In && m.Handle == other.Handle && m.Element == other.Element
}

// passedVerdicts are what would surely have ended a trial that passed.
func (e *Evidence) passedVerdicts() []met {
	var all []met
	for _, t := range e.Trials {
		if t.Error != "" {
			continue
		}
		all = append(all, slices.DeleteFunc(e.met(t), func(m met) bool { return !m.Ends() || !m.Sure || m.After != nil })...)
	}
	return all
}

// fewest is the least share of the datagrams that a client sent in vain which a rule must have
// counted, where nothing else shows that it met them.
const fewest = 0.25

// innocent reports whether something that may have ended the packets did not: a queue with a
// reader, or a rule that counted too few.
func (e *Evidence) innocent(t result.Trial, m met) bool {
	if number, is := strings.CutPrefix(m.Act, "queue "); is {
		first, _, _ := strings.Cut(strings.Fields(number)[0], "-")
		return strings.HasSuffix(number, " bypass") || e.state(m.at, queues)[first] != nil
	}
	sent := e.counted(e.Client, snmp, "Udp.OutDatagrams")
	return !m.Sure && m.counted > 0 && strings.HasPrefix(t.Workload, "udp") && m.counted < fewest*sent
}

// suspects are the places that may have lost the packets of the first trial that failed.
func (e *Evidence) suspects() []string {
	t, failed := e.failed()
	if !failed {
		return nil
	}
	return e.suspectsOf(t)
}

// suspectsOf are the places that may have lost a trial's packets: the place that saw one last and,
// if it left there, the next on its way. Where no device was watched, all places are suspects.
func (e *Evidence) suspectsOf(t result.Trial) []string {
	l := e.lost(t)
	if !l.known {
		return e.Places
	}
	found := []string{l.at}
	way := slices.Clone(e.Places)
	if l.reply {
		slices.Reverse(way)
	}
	if at := slices.Index(way, l.at); l.out && at >= 0 && at+1 < len(way) {
		found = append(found, way[at+1])
	}
	return found
}

// ofEnd reports whether what was ended is what a place itself sends or receives, not what it
// forwards.
func (m met) ofEnd(e *Evidence) bool {
	return m.hook == "input" || m.hook == "output" || m.at == e.Client || m.at == e.Server || m.tunnel != ""
}

// legacyEnd ends the family of the tables of iptables-legacy, which is the tool's name.
const legacyEnd = "tables-legacy"

// source is the command that shows a person the rule.
func (m met) source() string {
	if family := m.Chain.Family(); strings.HasSuffix(family, legacyEnd) {
		return family + "-save"
	}
	return rules
}

// rejects reports whether the sender gets an answer.
func (m met) rejects() bool { return m.Act == "reject" }

// finding is that of a rule or policy; what completes the sentence of its cause.
func (m met) finding(e *Evidence, what string) result.Finding {
	name, value := "a rule of "+m.In, "handle "+m.Handle+": "+m.Rule.Brief()
	switch {
	case m.Handle == policyHandle:
		name, value = "the policy of "+m.In, "drop"
	case m.Element != "":
		name = "an element of a map of " + m.In
		value += " of " + m.Element
	}
	if queue, is := strings.CutPrefix(m.Act, "queue "); is {
		what = "hands packets to queue " + queue + ", which no process reads"
	}
	if strings.HasPrefix(m.Act, "fwd") {
		what = "sends packets to another device"
	}
	if m.tunnel != "" {
		what += fmt.Sprintf(": UDP port %s of the tunnel %s", strings.Join(m.packet["th dport"].Values, ""), m.tunnel)
	}
	f := result.Finding{
		Cause:      fmt.Sprintf("%s in %s %s", name, m.at, what),
		Evidence:   []result.Evidence{seen(name, value, m.at, m.source()), e.trialFailed()},
		Remedy:     m.remedy(e),
		Confidence: 0.5,
	}
	if m.Rule.Compares("rpfilter") || m.Rule.Compares("fib") {
		f.Cause += ": it tests whether replies would leave by the device by which packets came"
	}
	if m.hook == "forward" && e.bridged() {
		f.Evidence = append(f.Evidence, seen("bridge/bridge-nf-call-iptables", e.number(m.at, sysctls, "bridge/bridge-nf-call-iptables"), m.at, sysctls))
		for _, bridge := range e.names(m.at, links, ".nf_call_iptables") {
			f.Evidence = append(f.Evidence, seen(bridge+".nf_call_iptables", true, m.at, links))
		}
	}
	switch {
	case m.counted > 0:
		f.Confidence = 0.95
		f.Evidence = append(f.Evidence, seen("packets that it counted", m.counted, m.at, m.source()))
	case m.Sure:
		f.Confidence = 0.9
	}
	return f
}

// eachProtocol makes one finding of those that end the packets of one protocol each: the fix of one alone
// would mend a part. found are those of all, in their order.
func eachProtocol(all []met, found []result.Finding) []result.Finding {
	var kept []result.Finding
	var first []met // of those kept
	for n, f := range found {
		with := slices.IndexFunc(first, func(m met) bool {
			return !slices.Equal(m.packet["meta l4proto"].Values, all[n].packet["meta l4proto"].Values)
		})
		if with < 0 || kept[with].Remedy == nil || f.Remedy == nil || f.Confidence < surely || kept[with].Confidence < surely {
			kept, first = append(kept, f), append(first, all[n])
			continue
		}
		of := func(m met) string {
			return " (" + strings.ToUpper(strings.Join(m.packet["meta l4proto"].Values, "")) + ")"
		}
		k := &kept[with]
		k.Cause += of(first[with]) + "; " + f.Cause + of(all[n])
		k.Evidence, k.Remedy.Then = append(k.Evidence, f.Evidence...), append(k.Remedy.Then, f.Remedy.Steps()...)
		if k.Fix == "" {
			k.Fix = f.Fix
		}
	}
	return kept
}

// surely is the confidence in a rule that is known to meet packets.
const surely = 0.9

// remedy is the least change by which packets pass.
func (m met) remedy(e *Evidence) *result.Remedy {
	words := strings.Fields(m.In)
	tool := ""
	if strings.HasSuffix(words[0], legacyEnd) {
		tool = words[0]
	}
	switch {
	case m.Handle == policyHandle:
		return remedy(m.at, m.admit(e, words, tool))
	case tool != "":
		return remedy(m.at, fmt.Sprintf("%s -t %s -D %s %s", tool, words[1], words[2], m.Handle))
	case m.Element != "":
		for _, act := range m.Rule.Acts {
			if name, is := strings.CutPrefix(act, "map "); is {
				return remedy(m.at, fmt.Sprintf("nft delete element %s %s %s '{ %s }'", words[0], words[1], name, m.Element))
			}
		}
	}
	return remedy(m.at, "nft delete rule "+m.In+" handle "+m.Handle)
}

// admit lets the packets of the path pass a policy: what comes from or goes to the containers of
// the host, not all that it forwards.
func (m met) admit(e *Evidence, words []string, tool string) string {
	way, local := map[string][]string{"input": {"s"}, "output": {"d"}}[m.hook], e.around(m.packet, m.at)
	if way == nil {
		way = []string{"d", "s"}
	} else {
		peer := firewall.Packet{}
		for key, field := range m.packet {
			if strings.HasSuffix(key, " "+way[0]+"addr") {
				peer[key] = field
			}
		}
		local = e.around(peer, "")
	}
	if len(local) == 0 {
		return "nft chain " + m.In + " '{ policy accept; }'"
	}
	var commands []string
	for _, one := range way {
		if tool != "" {
			commands = append(commands, fmt.Sprintf("%s -t %s -I %s -%s %s -j ACCEPT", tool, words[1], words[2], one, strings.Join(local, ",")))
			continue
		}
		family := "ip"
		if strings.Contains(local[0], ":") {
			family = "ip6"
		}
		commands = append(commands, fmt.Sprintf("insert rule %s %s %saddr %s accept", m.In, family, one, among(local)))
	}
	switch {
	case tool != "":
		return strings.Join(commands, " && ")
	case len(commands) == 1:
		return "nft " + commands[0]
	}
	return "nft '" + strings.Join(commands, "; ") + "'"
}

// around are the networks of a packet's addresses, as their devices have them: all containers of a
// host are on the same. host leaves those of its containers; empty: all.
func (e *Evidence) around(p firewall.Packet, host string) []string {
	var found []string
	for _, key := range []string{"ip saddr", "ip daddr", "ip6 saddr", "ip6 daddr"} {
		for _, address := range slices.Concat(p[key].Values, p[key].Also) {
			text, at := address, e.owner(address)
			if at == "" && address == e.Dial {
				at = e.Server
			}
			if host != "" && (hostOf(at) != host || at == host) {
				continue
			}
			for _, a := range e.Addresses {
				if a.Prefix.Addr().String() == address && a.At != hostOf(a.At) {
					text = a.Prefix.Masked().String()
				}
			}
			found = result.AddOnce(found, strings.TrimSuffix(text, "/32"))
		}
	}
	return found
}

// among writes one value, or a set of several.
func among(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return "{ " + strings.Join(values, ", ") + " }"
}
