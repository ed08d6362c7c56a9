package diagnose

import "tare/result"

// forwardDrop finds a firewall that drops packets which a host should forward.
func forwardDrop() Rule {
	return Rule{
		ID: "forward-drop", Grave: true, Dead: true,
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			for _, v := range e.verdicts(e.suspects()) {
				if !v.rejects && !v.ofEnd() {
					found = append(found, v.finding(e, "drops packets that it should forward"))
				}
			}
			return found
		},
	}
}
