package diagnose

import (
	"fmt"
	"slices"

	"tare/result"
)

const (
	// trainLoss is the share of datagrams lost in each of leastTrains trains from which
	// the path loses packets permanently, not for a moment.
	trainLoss   = 0.002
	leastTrains = 3
	trainName   = "udp_stream"
)

// randomLoss finds a path that loses packets at random.
func randomLoss() Rule {
	return Rule{
		ID: "random-loss", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			lost, loses := e.loses()
			_, failed := e.failed()
			if !loses && !failed {
				return nil
			}
			var found []result.Finding
			for _, m := range e.thinning("numgen") {
				found = append(found, result.Finding{
					Cause: fmt.Sprintf("a rule of %s in %s drops packets at random", m.In, m.at),
					Evidence: []result.Evidence{
						seen("rules of "+m.In+" that match at random", "handle "+m.Handle, m.at, rules),
						e.lossOf(lost),
					},
					Remedy:     m.remedy(e),
					Confidence: 0.97,
				})
			}
			if len(found)+len(e.thinning("limit")) > 0 || !loses || e.Cell != nil || e.counted(e.Server, snmp, "Udp.RcvbufErrors") > 0 || e.shapes() {
				return found
			}
			return []result.Finding{{
				Cause:      fmt.Sprintf("the path from %s to %s loses %.1f %% of small datagrams", e.Client, e.Server, 100*lost),
				Evidence:   []result.Evidence{seen("loss of "+trainName, lost, "", trials)},
				Fix:        e.run(hostOf(e.Client), "ip -s -s link") + "  # if no device counts them, find the hop that loses them: tare trace",
				Confidence: 0.8,
			}}
		},
	}
}

// loses returns the least loss of the trains of datagrams, and reports whether the
// path loses packets. More than one train was sent only where each lost some.
func (e *Evidence) loses() (float64, bool) {
	if e.Cell != nil {
		return e.cellLoses()
	}
	least, trains := 1.0, 0
	for _, t := range e.Trials {
		if t.Workload == trainName && t.Error == "" {
			least, trains = min(least, t.Metrics["loss"]), trains+1
		}
	}
	return least, trains >= leastTrains && least >= trainLoss
}

// lossOf is the evidence that packets are lost.
func (e *Evidence) lossOf(lost float64) result.Evidence {
	if e.Cell == nil {
		return seen("loss of "+trainName, lost, "", trials)
	}
	var again float64
	for _, s := range e.Cell.Samples {
		again += s.Metrics["retransmits"]
	}
	return seen("loss, and segments retransmitted", fmt.Sprintf("%.4f, %.0f", lost, again), "", "this result")
}

// shapes reports whether a queueing discipline on the path drops packets.
func (e *Evidence) shapes() bool {
	return slices.ContainsFunc(e.Places, func(at string) bool { return len(e.dropping(at)) > 0 })
}
