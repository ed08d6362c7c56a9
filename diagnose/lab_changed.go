package diagnose

import (
	"fmt"

	"tare/result"
	"tare/weigh"
)

// labChanged finds a toll that the network has in this lab, and not in one that nobody
// changed, where no other rule names what was changed.
func labChanged() Rule {
	return Rule{
		ID: "lab-changed",
		Match: func(e *Evidence) []result.Finding {
			m, slow := slower(e.Cell)
			p, compared := e.changed()
			if !slow || !compared || !p.Whole || p.Share.Low*m.Toll.Value < weigh.LeastPart {
				return nil
			}
			return []result.Finding{explaining(p, result.Finding{
				Cause:      fmt.Sprintf("something in this lab costs %s what it does not cost in a lab that nobody changed", e.Network),
				Evidence:   []result.Evidence{tollAs(e.Network, e.Cell, m.Name), tollAs(e.Network+" in an untouched lab", p.Below, m.Name)},
				Fix:        e.run(hostOf(e.Client), "sh -c 'nft list ruleset; tc qdisc; ip -d link; ip route'") + "  # compare with the same in a new lab: tare lab up " + e.Network + " --name other",
				Confidence: 0.8,
			})}
		},
	}
}

// changed is the part of a toll that the network has not in an untouched lab.
func (e *Evidence) changed() (weigh.Part, bool) {
	return result.First(e.Parts, func(p weigh.Part) bool { return p.Axis == weigh.Untouched && p.Cell == e.Cell })
}
