package diagnose

import "tare/result"

// forwardDrop finds a firewall that drops packets which a host should forward.
func forwardDrop() Rule {
	return Rule{
		ID: "forward-drop", Grave: true, Dead: true, Doc: doc("forward-drop"),
		Cause: "a firewall on the path drops packets that the host should forward",
		Fix:   "delete the rule, or set the chain's policy to accept",
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
