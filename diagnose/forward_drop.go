package diagnose

import "tare/result"

// forwardDrop knows a firewall that drops what a host should pass on.
func forwardDrop() Rule {
	return Rule{
		ID: "forward-drop", Grave: true, Doc: doc("forward-drop"),
		Cause: "a firewall on the way drops what the host should pass on",
		Fix:   "delete the rule, or let the chain's policy accept",
		Match: func(e *Evidence) []result.Finding {
			if !e.dead() {
				return nil
			}
			var found []result.Finding
			for _, v := range e.verdicts(e.suspects()) {
				if !v.rejects && !v.ofEnd() {
					found = append(found, v.finding(e, "drops what it should pass on"))
				}
			}
			return found
		},
	}
}
