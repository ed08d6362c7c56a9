package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"tare/result"
)

// neighbourFailed finds a neighbour on the path that does not answer ARP.
func neighbourFailed() Rule {
	return Rule{
		ID: "neighbour-failed", Grave: true, Dead: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			var found []result.Finding
			for _, name := range e.unanswered(at) {
				found = append(found, e.silentNeighbour(at, name))
			}
			return found
		}),
	}
}

// unanswered are the neighbour entries of a place whose ARP requests got no answer.
func (e *Evidence) unanswered(at string) []string {
	var names []string
	for _, name := range keys(e.state(at, neighbours)) {
		state := e.word(at, neighbours, name)
		if strings.HasSuffix(state, "failed") || strings.HasSuffix(state, "incomplete") {
			names = append(names, name)
		}
	}
	return names
}

// silentNeighbour is the finding of a neighbour that does not answer ARP.
func (e *Evidence) silentNeighbour(at, name string) result.Finding {
	address, device, _ := strings.Cut(name, " dev ")
	owner := e.owner(address)
	f := result.Finding{
		Cause:      fmt.Sprintf("%s gets no answer to ARP for %s on %s", at, address, device),
		Evidence:   []result.Evidence{seen(name, e.word(at, neighbours, name), at, neighbours), e.trialFailed()},
		Remedy:     remedy(at, "ip neighbour flush dev "+device),
		Fix:        "if it fails again, check that " + address + " is configured, up and connected to " + device,
		Confidence: 0.7,
	}
	if owner == "" {
		return f
	}
	f.Cause += ", an address of " + owner
	mute := e.deviceOf(owner, address)
	for _, scope := range slices.Compact([]string{mute, "all"}) {
		setting := "ipv4/conf/" + scope + "/arp_ignore"
		if ignores := e.number(owner, sysctls, setting); ignores > 0 {
			f.Cause += ", which is configured to ignore it"
			f.Evidence = append(f.Evidence, seen(setting, ignores, owner, sysctls))
			f.Remedy, f.Fix, f.Confidence = remedy(owner, "sysctl -w "+sysctlName(setting)+"=0"), "", 0.97
		}
	}
	return f
}
