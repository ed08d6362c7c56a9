package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
)

// dockerChainMissing finds that the firewall was flushed while Docker was running:
// its published ports can't be reached, and starting a container fails with "No
// chain/target/match by that name".
func dockerChainMissing() Rule {
	return Rule{
		ID: "docker-chain-missing", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			if !slices.Contains([]string{"docker-bridge", "docker-nat", "docker-overlay"}, e.Network) {
				return nil // the others do not use Docker's rules
			}
			var found []result.Finding
			for _, at := range e.Places {
				if at != hostOf(at) || len(e.state(at, legacyTables)) > 0 || e.state(at, links) == nil || e.unread(rules) {
					continue // its rules are in the legacy tables, or can't be read
				}
				var missing []string
				for _, chain := range []string{"ip nat DOCKER", "ip filter DOCKER", "ip filter FORWARD", "ip nat PREROUTING", "ip nat POSTROUTING"} {
					own := strings.HasSuffix(chain, "DOCKER")
					if _, there := e.state(at, rules)[chain+".rules"]; own && !there || !own && e.number(at, rules, chain+".rules") == 0 {
						missing = append(missing, chain)
					}
				}
				if len(missing) == 0 {
					continue
				}
				f := result.Finding{
					Cause: fmt.Sprintf("Docker's firewall rules are missing in %s: %s", at, strings.Join(missing, ", ")),
					Evidence: []result.Evidence{
						seen("chains that are missing or empty", strings.Join(missing, ", "), at, rules), e.trialFailed(),
					},
					Fix:        "systemctl restart docker  # in " + at,
					Confidence: 0.98,
				}
				if kind, _ := catalog.FindNetwork(e.Network); e.Lab != "" && kind.DockerRestart() != "" {
					f.Remedy, f.Fix = remedy(at, kind.DockerRestart()), "on a machine: systemctl restart docker"
				}
				found = append(found, f)
			}
			return found
		},
	}
}
