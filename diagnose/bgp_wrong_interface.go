package diagnose

import (
	"fmt"
	"strings"

	"tare/catalog"
	"tare/result"
)

// bgpWrongInterface finds hosts whose BGP speakers use an interface that does not
// lead to the others: no route arrives, or one that leads elsewhere.
func bgpWrongInterface() Rule {
	return Rule{
		ID: "bgp-wrong-interface", Grave: true, Dead: true,
		Match: func(e *Evidence) []result.Finding {
			if n, _ := catalog.FindNetwork(e.Network); !n.Takes(catalog.Router) || hostOf(e.Client) == hostOf(e.Server) {
				return nil
			}
			var found []result.Finding
			for _, way := range [][2]string{{e.Client, e.Server}, {e.Server, e.Client}} {
				if f, wrong := e.wrongWay(hostOf(way[0]), way[1]); wrong {
					found = append(found, f)
				}
			}
			return found
		},
	}
}

// wrongWay checks a host's route to the containers of another, and reports whether
// it is missing or leads elsewhere.
func (e *Evidence) wrongWay(at, end string) (result.Finding, bool) {
	address := e.addressOn(end, "eth0")
	if address == "" || end == hostOf(end) {
		return result.Finding{}, false
	}
	way, routed := e.route(at, address)
	routed = routed && way.To.Bits() > 0 && way.Kind == "" // the default route is not BGP's
	behind := e.deviceOf(hostOf(end), way.Via.String()) != "" || !way.Via.IsValid() && strings.HasPrefix(way.Device, "tunl")
	if routed && behind {
		return result.Finding{}, false
	}
	f := result.Finding{
		Cause:      fmt.Sprintf("%s receives no route to %s (%s) by BGP: the speakers have no session on the interface between the hosts", at, end, address),
		Evidence:   []result.Evidence{seen("route to "+address, "none", at, result.SourceRoutes), e.trialFailed()},
		Remedy:     remedy(at, "ip route replace "+address+" via "+e.addressOn(hostOf(end), "eth0")),
		Fix:        "temporary; then bind the BGP speaker to the interface and address at which the other hosts reach this one",
		Confidence: 0.96,
	}
	if routed {
		f.Cause = fmt.Sprintf("%s sends to %s (%s) by %q, which does not lead to the other host: BGP uses the wrong interface", at, end, address, way.Way())
		f.Evidence[0].Value = way.To.String() + " " + way.Way()
	}
	return f, true
}
