package diagnose

import (
	"fmt"

	"tare/network"
	"tare/result"
)

// encapsulationCost knows what packets inside packets cost.
func encapsulationCost() Rule {
	return Rule{
		ID: "encapsulation-cost", Doc: doc("encapsulation-cost"),
		Cause: "each packet is put into another, and taken out again",
		Fix:   "routes between the hosts instead of a tunnel, a larger MTU, or an interface that segments tunnels",
		Match: func(e *Evidence) []result.Finding {
			kind, known := network.Find(e.Network)
			m, slow := slower(e.Cell)
			if !known || !kind.Encapsulates() || network.Within(e.Path) || !slow {
				return nil
			}
			evidence := append(e.tolled(m), result.Evidence{Name: "bytes of headers around each packet", Value: e.MTU - e.Inner, Source: "the network's headers"})
			return []result.Finding{{
				Cause:      fmt.Sprintf("%s puts each packet into another: %d bytes of headers, and a second way through the host's stack", e.Network, e.MTU-e.Inner),
				Evidence:   evidence,
				Fix:        "ip route add CONTAINERS via HOST  # a network of routes, as route or bgp; or raise the hosts' MTU",
				Confidence: 0.85, Share: e.added(m),
			}}
		},
	}
}
