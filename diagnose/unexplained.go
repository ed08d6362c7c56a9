package diagnose

import (
	"cmp"

	"tare/result"
)

// lostUnexplained reports where the packets of a path that carries nothing are lost,
// if no other rule explains it.
func lostUnexplained() Rule {
	return Rule{
		ID: "lost-unexplained", Grave: true, Dead: true, Last: true,
		Match: func(e *Evidence) []result.Finding {
			t, _ := e.failed()
			l := e.lost(t)
			at := cmp.Or(l.at, e.Client)
			return []result.Finding{{
				Cause:      "no packet passes from " + e.Client + " to " + e.Server + ": " + l.where(),
				Evidence:   []result.Evidence{errorOf(t)},
				Fix:        e.run(at, "ip -s -s link") + "  # then check the drop counters, the routes and the firewall there",
				Confidence: 0.3,
			}}
		},
	}
}
