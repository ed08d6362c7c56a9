package diagnose

import "tare/result"

// lostUnexplained says of a path that carries nothing where that ends, when no
// other rule knows why.
func lostUnexplained() Rule {
	return Rule{
		ID: "lost-unexplained", Grave: true, Last: true, Doc: doc("lost-unexplained"),
		Cause: "packets are lost, and no known cause fits",
		Fix:   "look at the last place that saw them",
		Match: func(e *Evidence) []result.Finding {
			t, failed := e.failed()
			if !failed || !e.dead() {
				return nil
			}
			l := e.lost(t)
			at := l.at
			if at == "" {
				at = e.Client
			}
			return []result.Finding{{
				Cause:      "from " + e.Client + " to " + e.Server + " nothing passes: " + l.where(),
				Evidence:   []result.Evidence{said(t)},
				Fix:        e.run(at, "ip -s -s link") + "  # look at what drops there, at its routes and its firewall",
				Confidence: 0.3,
			}}
		},
	}
}
