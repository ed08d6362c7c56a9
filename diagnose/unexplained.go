package diagnose

import (
	"strings"

	"tare/result"
)

// lostUnexplained reports where the packets of a path that carries nothing, or not all, are
// lost, if no other rule explains it.
func lostUnexplained() Rule {
	return Rule{
		ID: "lost-unexplained", Grave: true, Last: true,
		Match: func(e *Evidence) []result.Finding {
			t, failed := e.failed()
			if !failed || !strings.HasSuffix(t.Workload, "_rr") { // under load a stream may stall
				return nil
			}
			at, command, comment := e.look(t)
			return []result.Finding{{
				Cause:      e.describe(t),
				Evidence:   []result.Evidence{errorOf(t)},
				Fix:        e.run(at, command) + "  # " + comment,
				Confidence: 0.3,
			}}
		},
	}
}
