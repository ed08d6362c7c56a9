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
				missing := e.missingChains(at)
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

// missingChains are those of Docker's that are gone, or to which no packet comes. Where none is left, it can't be
// seen whether they were those of iptables.
func (e *Evidence) missingChains(at string) (missing []string) {
	own := []string{"ip nat DOCKER", "ip filter DOCKER"}
	filled := []string{"ip filter FORWARD", "ip nat PREROUTING", "ip nat POSTROUTING"}
	all := e.names(at, rules, ".rules")
	switch {
	case !slices.ContainsFunc(all, func(chain string) bool { return strings.Contains(strings.ToUpper(chain), "DOCKER") }):
		return []string{"all of them"}
	case slices.ContainsFunc(all, func(chain string) bool { return strings.HasPrefix(chain, "ip docker-bridges ") }):
		// Docker 29 with firewall-backend nftables: one table, and nothing of iptables.
		own = []string{"ip docker-bridges nat-prerouting-and-output"}
		filled = []string{"ip docker-bridges filter-FORWARD", "ip docker-bridges nat-PREROUTING", "ip docker-bridges nat-POSTROUTING"}
	case slices.Contains(all, "ip filter DOCKER-FORWARD"): // since Docker 28
		filled = append(filled, "ip filter DOCKER-FORWARD", "ip filter DOCKER-CT", "ip filter DOCKER-BRIDGE")
	}
	for _, chain := range slices.Concat(own, filled) {
		if !slices.Contains(all, chain) || slices.Contains(filled, chain) && e.number(at, rules, chain+".rules") == 0 {
			missing = append(missing, chain)
		}
	}
	return missing
}
