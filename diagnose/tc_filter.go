package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"tare/result"
)

// tcFilter finds traffic control filters that take the packets of a path: they drop
// them, lead them to a device that is none of the network's, or rewrite them.
func tcFilter() Rule {
	return Rule{
		ID: "tc-filter", Grave: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			var found []result.Finding
			for _, name := range keys(e.state(at, tcFilters)) {
				if what, n := e.filtered(at, name); what != "" {
					found = append(found, e.filterFinding(at, name, what, n))
				}
			}
			if len(found) == 0 {
				return e.unnamedFilters(at)
			}
			return found
		}),
	}
}

// filtered reports what a filter did to how many packets; empty: nothing to the path's.
func (e *Evidence) filtered(at, name string) (what string, n float64) {
	fate := e.word(at, tcFilters, name)
	packets, dropped := e.counted(at, tcFilters, name+".packets"), e.counted(at, tcFilters, name+".dropped")
	device, _, _ := strings.Cut(name, " ")
	_, target, leads := strings.Cut(fate, "redirect ")
	lost := e.dead() && slices.Contains(e.suspects(), at) && packets > 0
	switch {
	case dropped > 0:
		return "drops packets", dropped
	case strings.Contains(fate, "drop") && packets > 0:
		return "drops packets", packets
	case strings.Contains(fate, "program") && e.sideDrops(at, device) > 0:
		return "is a program that drops packets", e.sideDrops(at, device)
	case leads && lost && e.word(at, links, target+".kind") != "ifb":
		return "leads packets to " + target, packets
	case lost && slices.ContainsFunc([]string{"nat", "pedit", "skbmod", "vlan", "mpls", "tunnel_key", "ct", "trap"}, func(k string) bool { return fate == k }):
		return "rewrites packets (" + fate + ")", packets
	}
	return "", 0
}

// sideDrops are the packets that filters and programs of a device dropped.
func (e *Evidence) sideDrops(at, device string) float64 {
	return e.counted(at, qdiscs, device+".clsact.dropped") + e.counted(at, qdiscs, device+".ingress.dropped")
}

// filterFinding is the finding of a filter, whose name is what tc(8) knows it by.
func (e *Evidence) filterFinding(at, name, what string, n float64) result.Finding {
	device, words, _ := strings.Cut(name, " ")
	side, _, _ := strings.Cut(words, " ")
	return result.Finding{
		Cause: fmt.Sprintf("a traffic control filter at the %s of %s in %s %s", side, device, at, what),
		Evidence: []result.Evidence{
			seen(name, e.word(at, tcFilters, name), at, tcFilters), seen("packets of it", n, at, tcFilters), e.trialFailed(),
		},
		Remedy:     remedy(at, "tc filter del dev "+device+" "+strings.TrimPrefix(words, "root ")),
		Confidence: 0.96,
	}
}

// unnamedFilters is the finding of packets that a device's filters dropped, where none
// of them says so.
func (e *Evidence) unnamedFilters(at string) (found []result.Finding) {
	dropping := e.dropping(at)
	for _, device := range keys(dropping) {
		kind := dropping[device]
		if kind != "ingress" && kind != "clsact" {
			continue
		}
		found = append(found, result.Finding{
			Cause:      fmt.Sprintf("a traffic control filter of %s in %s drops packets", device, at),
			Evidence:   []result.Evidence{seen(device+"."+kind+".dropped", e.counted(at, qdiscs, device+"."+kind+".dropped"), at, qdiscs), e.trialFailed()},
			Fix:        e.run(at, fmt.Sprintf("sh -c 'tc filter show dev %s ingress; tc filter show dev %s egress'", device, device)) + "  # then delete the filter that drops: tc filter del dev " + device + " ingress|egress pref N",
			Confidence: 0.9,
		})
	}
	return found
}
