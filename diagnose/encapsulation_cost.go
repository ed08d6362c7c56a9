package diagnose

import (
	"fmt"
	"slices"

	"tare/catalog"
	"tare/result"
)

// encapsulationCost finds a toll that a tunnel causes: packets inside packets.
func encapsulationCost() Rule {
	return Rule{
		ID: "encapsulation-cost", Limit: mostOfRung,
		Match: func(e *Evidence) []result.Finding {
			m, slow := slower(e.Cell)
			if !slow || catalog.Within(e.Path) {
				return nil
			}
			kind, known := catalog.FindNetwork(e.Network)
			if known && kind.Encapsulates() {
				return []result.Finding{e.encapsulates(m)}
			}
			return e.detours(m)
		},
	}
}

// encapsulates is the finding of a network that always encapsulates.
func (e *Evidence) encapsulates(m result.Metric) result.Finding {
	fix := e.nature()
	if m.Better == result.Higher {
		fix += "; a larger MTU of the hosts makes fewer packets of as many bytes"
	}
	return e.adding(m, result.Finding{
		Cause:      fmt.Sprintf("%s encapsulates each packet: %d bytes of headers, and a second pass through the host's stack", e.Network, e.MTU-e.Inner),
		Evidence:   append(e.tolled(m), result.Evidence{Name: "bytes of headers around each packet", Value: e.MTU - e.Inner, Source: "the network's headers"}),
		Fix:        fix,
		Confidence: e.attributed(0.85),
	})
}

// wraps reports whether devices of a kind (rtnetlink's IFLA_INFO_KIND) encapsulate
// packets.
func wraps(kind string) bool {
	return slices.Contains([]string{"vxlan", "geneve", "gre", "gretap", "ipip", "sit", "ip6tnl", "wireguard", "tun"}, kind)
}

// detours are tunnels that carried the packets of a network that needs none.
func (e *Evidence) detours(m result.Metric) []result.Finding {
	var found []result.Finding
	for _, at := range []string{hostOf(e.Client), hostOf(e.Server)} {
		for _, device := range e.carriers(at) {
			kind := e.word(at, links, device+".kind")
			if !wraps(kind) || kind == "tun" && e.word(at, links, device+".mac") != "" {
				continue // a tap is a port of a switch in user space as often
			}
			found = append(found, result.Finding{
				Cause: fmt.Sprintf("%s in %s, a %s device, encapsulates each packet on path %s, and network %s needs no tunnel", device, at, kind, e.Path, e.Network),
				Evidence: append(e.tolled(m), seen(device+".kind", kind, at, links),
					seen("packets of "+device, e.counted(at, linkStats, device+".tx_packets")+e.counted(at, linkStats, device+".rx_packets"), at, linkStats)),
				Remedy:     remedy(at, "ip route flush dev "+device),
				Fix:        "if nothing else uses it",
				Confidence: 0.9, Share: e.added(m),
			})
		}
	}
	return found
}
