package diagnose

import (
	"fmt"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// neighbourCost finds what a noisy neighbour takes from a network: what it costs more than the
// same network without it, in the same blocks.
func neighbourCost() Rule {
	return Rule{
		ID: "neighbour-cost",
		Match: func(e *Evidence) []result.Finding {
			return e.beside(catalog.Neighbour, "other containers on the same hosts run %s: they take CPU time, and the queues that all of them share",
				"docker run --cpus 1 IMAGE  # bound the neighbour, or its rate (kubernetes.io/egress-bandwidth), or keep the two on different hosts")
		},
	}
}

// passengerCost finds the same of a passenger.
func passengerCost() Rule {
	return Rule{
		ID: "passenger-cost",
		Match: func(e *Evidence) []result.Finding {
			return e.beside(catalog.With, "the command %q runs on the hosts beside it",
				"tare run --with COMMAND  # weigh a lighter one: a capture with a filter and a short length, counters in place of packets")
		},
	}
}

// beside is the finding of what the cell has more than the same network without a parameter.
func (e *Evidence) beside(param, cause, fix string) []result.Finding {
	m, slow := slower(e.Cell)
	if !slow {
		return nil
	}
	for _, p := range e.Parts {
		if p.Axis == param && p.Share.Value >= weigh.LeastPart {
			return []result.Finding{explaining(p, result.Finding{
				Cause:    fmt.Sprintf(cause, e.Cell.Params.Text(param)),
				Evidence: []result.Evidence{tollAs(e.Network, p.Cell, m.Name), tollAs(e.Network+" alone", p.Below, m.Name)},
				Fix:      fix,
			})}
		}
	}
	return nil
}
