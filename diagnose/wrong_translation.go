package diagnose

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"tare/catalog"
	"tare/firewall"
	"tare/result"
)

// wrongTranslation finds a rule that translates the path's packets so that nobody answers: to an
// address that no place has, or to a port that nothing serves.
func wrongTranslation() Rule {
	return Rule{
		ID: "wrong-translation", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			by := e.metInVain(func(m met) bool { what, _ := e.mistranslates(m); return what != "" })
			for _, m := range by {
				what, evidence := e.mistranslates(m)
				f := m.finding(e, what)
				f.Evidence, f.Confidence = append(f.Evidence, evidence...), max(f.Confidence, 0.9)
				if evidence != nil {
					f.Confidence = 0.96
				}
				e.leadRight(&f, m)
				found = append(found, f)
			}
			found = eachProtocol(by, found)
			if t, failed := e.failed(); failed && e.dead() {
				if f, lacks := e.unmasked(t); lacks {
					found = append(found, f)
				}
			}
			return found
		},
	}
}

// leadRight completes the fix of a rule without which nothing would lead to the server.
func (e *Evidence) leadRight(f *result.Finding, m met) {
	verb, _, _ := strings.Cut(m.Act, " ")
	t := result.Trial{Workload: strings.Join(m.packet["meta l4proto"].Values, "") + "_rr"}
	command := e.lead(m.at, m.hook, m.In, m.packet["meta l4proto"].Values...)
	if verb != "dnat" && verb != "redirect" || command == "" || e.otherwise(t, m) {
		return
	}
	f.Remedy.Command += " && " + command
	if catalog.ByService(e.Path) {
		f.Fix = "kube-proxy, or what writes these rules, is behind the cluster's changes there: its log says why"
	}
}

// mistranslates is what is wrong with a translation; empty: nothing.
func (e *Evidence) mistranslates(m met) (what string, evidence []result.Evidence) {
	if m.reply {
		return "", nil
	}
	verb, to, _ := strings.Cut(m.Act, " to ")
	switch verb {
	case "redirect", "tproxy":
		port := strings.TrimPrefix(to, ":")
		if port == "" || e.listens(m.at, port) || !slices.Equal(m.packet["meta l4proto"].Values, []string{"tcp"}) {
			return "", nil
		}
		return fmt.Sprintf("redirects connections to port %s of %s, where nothing listens", port, m.at), nil
	case "snat":
		address := plain(to)
		owner := e.owner(address)
		switch {
		case address == "" || e.deviceOf(m.at, address) != "":
		case owner == "":
			return fmt.Sprintf("gives packets the source %s, an address that no place on the path has: no reply comes back", address), nil
		default:
			return fmt.Sprintf("gives packets the source %s, an address of %s: no reply comes back", address, owner), nil
		}
	case "dnat":
		return e.misleads(m, strings.Split(strings.Trim(to, "{ }"), ", "))
	case "notrack":
		if then, keeps := e.keptFrom(m); keeps {
			return "keeps packets out of connection tracking, so that the rule which translates them is never met",
				[]result.Evidence{seen("handle "+then.Handle+" of "+then.In, then.Rule.Brief(), m.at, m.source())}
		}
	}
	return "", nil
}

// misleads is what is wrong with where a rule sends packets; empty: nothing.
func (e *Evidence) misleads(m met, targets []string) (what string, evidence []result.Evidence) {
	server, leadsThere := e.addressOn(e.Server, "eth0"), false
	for _, one := range targets {
		address, port := plain(one), portOf(one)
		owner := e.owner(address)
		leadsThere = leadsThere || address == server || address == "" || owner == e.Server
		for _, at := range e.Places {
			if state := e.silent(at, address); address != "" && owner == "" && state != "" {
				return fmt.Sprintf("sends packets on to %s, which does not answer ARP", address), []result.Evidence{seen(address, state, at, neighbours)}
			}
		}
		addr, err := netip.ParseAddr(address)
		switch {
		case err == nil && addr.IsLoopback() && m.hook == "prerouting":
			return fmt.Sprintf("sends packets on to %s, which %s takes from itself only", address, m.at), nil
		case owner == e.Server && m.Sure && port != "" && e.Port != 0 && port != strconv.Itoa(e.Port) && !e.listens(owner, port):
			return fmt.Sprintf("sends packets on to port %s of %s, where nothing listens", port, owner), nil
		}
	}
	if m.Sure && !leadsThere && server != "" {
		return fmt.Sprintf("sends packets on to %s, and not to %s (%s)", strings.Join(targets, ", "), e.Server, server), nil
	}
	return "", nil
}

// keptFrom is a rule of the same place that would translate packets, were they tracked.
func (e *Evidence) keptFrom(m met) (then firewall.Step, keeps bool) {
	if !m.Sure || m.hook != "prerouting" && m.hook != "output" {
		return then, false
	}
	translates := func(s firewall.Step) bool {
		verb, _, _ := strings.Cut(s.Act, " ")
		return slices.Contains([]string{"dnat", "redirect", "snat", "masquerade"}, verb)
	}
	if then, keeps = result.First(firewall.Walk(e.chains(m.at), m.packet, m.hook, nil), translates); keeps {
		return then, then.After != nil && then.After.Handle == m.Handle && then.After.In == m.In
	}
	after := maps.Clone(m.packet)
	delete(after, "iifname")
	return result.First(firewall.Walk(e.chains(m.at), after, "postrouting", nil), translates)
}

// portOf is the port of "ADDRESS:PORT"; empty: it has none.
func portOf(text string) string {
	if with, err := netip.ParseAddrPort(strings.TrimSpace(text)); err == nil {
		return strconv.Itoa(int(with.Port()))
	}
	return ""
}

// plain is the address of "ADDRESS:PORT"; empty: it is none, or a range.
func plain(text string) string {
	if with, err := netip.ParseAddrPort(strings.TrimSpace(text)); err == nil {
		return with.Addr().String()
	}
	address, err := netip.ParseAddr(strings.TrimSpace(text))
	if err != nil {
		return ""
	}
	return address.String()
}

// silent is the state of a neighbour that did not answer; empty: it did, or is not known.
func (e *Evidence) silent(at, address string) string {
	for _, name := range e.unanswered(at) {
		if strings.HasPrefix(name, address+" dev ") {
			return e.word(at, neighbours, name)
		}
	}
	return ""
}

// listens reports whether a process of a place accepts connections at a port.
func (e *Evidence) listens(at, port string) bool {
	return slices.ContainsFunc(e.names(at, listening, ".queue"), func(name string) bool { return strings.HasSuffix(name, ":"+port) })
}
