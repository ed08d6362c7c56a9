package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"tare/result"
)

// wrongTranslation finds a rule that translates the path's packets so that nobody answers: to an
// address that no place has, or to a port that nothing serves.
func wrongTranslation() Rule {
	return Rule{
		ID: "wrong-translation", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			for _, m := range e.metInVain(func(m met) bool { what, _ := e.mistranslates(m); return what != "" }) {
				what, evidence := e.mistranslates(m)
				f := m.finding(e, what)
				f.Evidence, f.Confidence = append(f.Evidence, evidence...), max(f.Confidence, 0.9)
				if evidence != nil {
					f.Confidence = 0.96
				}
				found = append(found, f)
			}
			return found
		},
	}
}

// mistranslates is what is wrong with a translation; empty: nothing.
func (e *Evidence) mistranslates(m met) (what string, evidence []result.Evidence) {
	verb, to, _ := strings.Cut(m.Act, " to ")
	switch verb {
	case "redirect":
		port := strings.TrimPrefix(to, ":")
		if port == "" || m.reply || e.listens(m.at, port) || len(m.packet["meta l4proto"].Values) != 1 || m.packet["meta l4proto"].Values[0] != "tcp" {
			return "", nil
		}
		return fmt.Sprintf("redirects connections to port %s of %s, where nothing listens", port, m.at), nil
	case "snat":
		if address := plain(to); address != "" && !m.reply && e.owner(address) == "" {
			return fmt.Sprintf("gives packets the source %s, an address that no place on the path has: no reply comes back", address), nil
		}
	case "dnat":
		for _, one := range strings.Split(strings.Trim(to, "{ }"), ", ") {
			address := plain(one)
			if address == "" || m.reply || e.owner(address) != "" {
				continue
			}
			if state := e.silent(m.at, address); state != "" {
				return fmt.Sprintf("sends packets on to %s, which does not answer ARP", address), []result.Evidence{seen(address, state, m.at, neighbours)}
			}
		}
	}
	return "", nil
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
