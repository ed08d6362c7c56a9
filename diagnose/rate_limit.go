package diagnose

import (
	"fmt"
	"slices"

	"tare/result"
)

// rateLimit finds a rule of a firewall that drops what comes faster than some rate: a short
// exchange passes, and bulk data is lost.
func rateLimit() Rule {
	return Rule{
		ID: "rate-limit", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			lost, loses := e.loses()
			if _, failed := e.failed(); !loses && !failed {
				return nil
			}
			var found []result.Finding
			for _, m := range e.thinning("limit") {
				f := result.Finding{
					Cause:      fmt.Sprintf("a rule of %s in %s drops what comes faster than its rate: %s", m.In, m.at, m.Rule.Brief()),
					Evidence:   []result.Evidence{seen("rule of "+m.In, "handle "+m.Handle+": "+m.Rule.Brief(), m.at, rules)},
					Remedy:     m.remedy(e),
					Confidence: 0.9,
				}
				if m.counted > 0 {
					f.Evidence = append(f.Evidence, seen("packets that it dropped", m.counted, m.at, rules))
					f.Confidence = 0.97
				}
				if loses {
					f.Evidence = append(f.Evidence, e.lossOf(lost))
				}
				found = append(found, f)
			}
			return found
		},
	}
}

// thinning are the rules on the path that drop some of its packets and pass others: those that
// compare something of the kind, or follow a rule which accepts by it.
func (e *Evidence) thinning(kind string) []met {
	tried := e.Trials
	if len(tried) == 0 { // a measured cell
		tried = []result.Trial{{Workload: "tcp_rr"}, {Workload: "udp_rr"}}
	}
	var found []met
	for _, t := range tried {
		passes := map[string]bool{}
		for _, m := range e.met(t) {
			entry := m.at + m.Chain.Name
			if m.Act == "accept" && m.Rule.Compares(kind) {
				passes[entry] = true
			}
			thins := m.Rule.Compares(kind) || passes[entry]
			if m.Ends() && m.After == nil && thins && !slices.ContainsFunc(found, m.same) {
				found = append(found, m)
			}
		}
	}
	return found
}
