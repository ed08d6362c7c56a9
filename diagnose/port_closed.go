package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tare/catalog"
	"tare/firewall"
	"tare/result"
)

// portClosed finds a port that no process serves, or that a firewall of its end
// closes.
func portClosed() Rule {
	return Rule{
		ID: "port-closed", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			var by []met
			var found []result.Finding
			for _, m := range e.verdicts(false) {
				if m.ofEnd(e) {
					by, found = append(by, m), append(found, m.finding(e, "closes the port"))
				}
			}
			found = eachProtocol(by, found)
			if f, closed := e.unpublished(); closed && len(found) == 0 && e.dead() && !catalog.ByService(e.Path) && !e.dialsEnd() {
				found = append(found, f)
			}
			return found
		},
	}
}

// unpublished is the finding that a host refuses a port at which a container should
// be published; closed reports whether it does.
func (e *Evidence) unpublished() (f result.Finding, closed bool) {
	t, _ := e.failed()
	at := e.owner(e.Dial)
	passes := slices.ContainsFunc([]string{"tcp", "udp"}, func(protocol string) bool { // by what is not seen
		return e.small(protocol, 0).passed > 0 && e.translator(result.Trial{Workload: protocol}).at == ""
	})
	dropped := len(e.verdicts(false)) > 0
	held := !dropped && t.Failure() == result.Silent && e.listens(at, strconv.Itoa(e.Port)) && !e.relays() // an engine keeps the port from others, and answers nothing
	if t.Failure() != result.Refused && !held || at == "" || at == e.Server || passes {
		return result.Finding{}, false
	}
	leads := func(s firewall.Step) bool { return s.After == nil || s.After.Act == "notrack" } // that a rule before it keeps it from doing so is another fault
	if slices.ContainsFunc(e.destinations(t, at), leads) {
		return result.Finding{}, false
	}
	f = result.Finding{
		Cause: fmt.Sprintf("%s refuses the published port of %s: no rule forwards it and nothing listens", at, e.Server),
		Evidence: []result.Evidence{
			errorOf(t), seen("Tcp.OutRsts", e.counted(at, snmp, "Tcp.OutRsts"), at, snmp),
			seen("Icmp.OutDestUnreachs", e.counted(at, snmp, "Icmp.OutDestUnreachs"), at, snmp),
		},
		Confidence: 0.85,
	}
	if held {
		f.Cause = fmt.Sprintf("no rule of %s forwards the published port of %s: a process there that only keeps it from others takes its connections", at, e.Server)
	}
	if first, then, found := e.overtaken(t, at); found {
		f.Cause = fmt.Sprintf("%s refuses the published port of %s: a rule of %s takes its packets before the rule that translates them", at, e.Server, first.In)
		f.Evidence = append(f.Evidence,
			seen("handle "+first.Handle, first.Rule.Brief(), at, first.source()), seen("handle "+then.Handle, then.Rule.Brief()+", which no packet meets", at, first.source()))
		f.Remedy, f.Confidence = first.remedy(e), 0.95
		return f, true
	}
	e.publishAgain(&f, at)
	return f, true
}

// relays reports whether a process relays the network's published ports.
func (e *Evidence) relays() bool {
	kind, _ := catalog.FindNetwork(e.Network)
	return kind.Facts.Relays
}

// overtaken are a rule that lets packets pass untranslated, and one after it that would have
// translated them.
func (e *Evidence) overtaken(t result.Trial, at string) (first, then met, found bool) {
	p := passage{at: at, hook: "prerouting", packet: e.packet(t, at, "prerouting", false)}
	for _, s := range firewall.Walk(e.chains(at), p.packet, p.hook, nil) {
		switch {
		case s.Act == "accept" && first.Chain != s.Chain:
			first = met{Step: s, passage: p}
		case strings.HasPrefix(s.Act, "dnat") && first.Chain == s.Chain:
			return first, met{Step: s, passage: p}, true
		}
	}
	return first, then, false
}

// publishAgain adds the fix of a port whose rules are gone: the engine's, or of a network that has
// none the rules themselves.
func (e *Evidence) publishAgain(f *result.Finding, at string) {
	kind, _ := catalog.FindNetwork(e.Network)
	command := e.lead(at, e.enters(at), "", e.unled()...)
	switch {
	case e.Lab != "" && kind.DockerRestart() != "":
		f.Remedy = remedy(at, kind.DockerRestart())
	case strings.HasPrefix(e.Network, "podman") && (e.Lab == "" || command == ""):
		f.Remedy = remedy(at, "podman network reload --all")
	case e.Lab != "" && command != "":
		f.Remedy, f.Fix = remedy(at, command), "and those of the other ports and containers, if they are gone too"
	default:
		f.Fix = e.run(at, "nft list ruleset") + "  # then publish the port again with the container engine"
	}
}
