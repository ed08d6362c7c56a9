package diagnose

import (
	"fmt"
	"strings"

	"tare/network"
	"tare/result"
)

// natCost knows what rewriting addresses costs.
func natCost() Rule {
	return Rule{
		ID: "nat-cost", Doc: doc("nat-cost"),
		Cause: "addresses are rewritten and connections tracked",
		Fix:   "reach containers without NAT, or do not track what needs none",
		Match: func(e *Evidence) []result.Finding {
			m, slow := slower(e.Cell)
			if !slow || !published(e.Path) || relays(e.Network) {
				return nil
			}
			var chains []string
			for _, chain := range e.names(hostOf(e.Server), rules, ".hook") {
				if strings.Contains(chain, " nat ") && e.number(hostOf(e.Server), rules, chain+".rules") > 0 {
					chains = append(chains, chain)
				}
			}
			if len(chains) == 0 {
				return nil
			}
			return []result.Finding{{
				Cause:      fmt.Sprintf("the published port of %s is reached by rewriting addresses, connection by connection and packet by packet", hostOf(e.Server)),
				Evidence:   append(e.tolled(m), seen("chains that rewrite addresses", strings.Join(chains, ", "), hostOf(e.Server), rules)),
				Fix:        "docker run --network host IMAGE  # or reach the container by a route instead of a published port",
				Confidence: 0.7, Share: e.added(m),
			}}
		},
	}
}

// published tells whether a path leads to a published port.
func published(path string) bool {
	return path == network.PublishedPort || path == network.ContainerToPublishedPort
}

// relays tells whether a network publishes ports by a process.
func relays(name string) bool { return name == "proxy" || name == "docker-proxy" }
