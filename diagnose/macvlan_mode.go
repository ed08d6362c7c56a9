package diagnose

import (
	"fmt"

	"tare/result"
)

// macvlanMode finds containers on one interface of a host that do not reach each other by the
// mode of their macvlan devices: private ones never do, those of mode vepa by a switch that
// returns what it is sent (ip-link(8)).
func macvlanMode() Rule {
	return Rule{
		ID: "macvlan-mode", Grave: true, Dead: true,
		Match: func(e *Evidence) (found []result.Finding) {
			if hostOf(e.Client) != hostOf(e.Server) {
				return nil
			}
			for _, end := range []string{e.Client, e.Server} {
				mode := e.word(end, links, "eth0.mode")
				if e.word(end, links, "eth0.kind") != "macvlan" || mode == "" || mode == "passthru" {
					continue
				}
				found = append(found, result.Finding{
					Cause:      fmt.Sprintf("eth0 of %s is a macvlan of mode %s: it reaches no other on the interface of its host", end, mode),
					Evidence:   []result.Evidence{seen("eth0.mode", mode, end, links), e.trialFailed()},
					Remedy:     remedy(end, "ip link set dev eth0 type macvlan mode bridge"),
					Confidence: 0.96,
				})
			}
			return found
		},
	}
}
