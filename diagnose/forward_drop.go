package diagnose

import "tare/result"

// forwardDrop finds a firewall that drops packets which a host should forward.
func forwardDrop() Rule {
	return Rule{
		ID: "forward-drop", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			var by []met
			var found []result.Finding
			for _, m := range e.verdicts(false) {
				if !m.rejects() && !m.ofEnd(e) && !m.keepsDirect() {
					by, found = append(by, m), append(found, m.finding(e, "drops packets that it should forward"))
				}
			}
			return eachProtocol(by, found)
		},
	}
}
