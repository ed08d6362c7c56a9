package diagnose

import (
	"fmt"
	"strings"

	"tare/result"
)

// snatPorts finds a place that can't give a new connection a source port that no other has: it is
// not entered into the table of connections, which has room, and its first packet is dropped.
func snatPorts() Rule {
	return Rule{
		ID: "snat-ports", Grave: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			refused := e.counted(at, tracked, "insert_failed")
			_, failed := e.failed()
			if refused == 0 || !failed || e.fullTable(at) {
				return nil
			}
			f := result.Finding{
				Cause: fmt.Sprintf("%s has no free source port left for %.0f new connections, whose source address it translates: it drops them", at, refused),
				Evidence: []result.Evidence{
					seen("insert_failed", refused, at, tracked), seen("nf_conntrack_count", e.number(at, conntrack, "nf_conntrack_count"), at, conntrack), e.trialFailed(),
				},
				Fix:        e.run(at, "nft list ruleset") + "  # give the rule that masquerades more ports (random-fully), or more addresses to translate to",
				Confidence: 0.93,
			}
			for _, m := range e.met(result.Trial{Workload: "tcp_rr"}) {
				verb, to, _ := strings.Cut(m.Act, " to ")
				if m.at == at && m.After == nil && (verb == "masquerade" || verb == "snat") && strings.Contains(to, ":") {
					m.blame(e, &f, "has these ports alone")
					f.Fix = "if it is needed, add it again with more ports, or with none"
					break
				}
			}
			return []result.Finding{f}
		}),
	}
}
