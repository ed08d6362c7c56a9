package diagnose

import (
	"fmt"
	"strings"

	"tare/result"
)

// bgpWrongInterface knows hosts whose BGP speakers chose an interface that the
// others are not behind: no route comes, or one that leads elsewhere.
func bgpWrongInterface() Rule {
	return Rule{
		ID: "bgp-wrong-interface", Grave: true, Doc: doc("bgp-wrong-interface"),
		Cause: "BGP speaks by the wrong interface: the route to the other host's containers is missing or leads elsewhere",
		Fix:   "bind the speaker to the interface between the hosts",
		Match: func(e *Evidence) []result.Finding {
			if !e.dead() || !strings.HasPrefix(e.Network, "bgp") || hostOf(e.Client) == hostOf(e.Server) {
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

// wrongWay looks at a host's route to the containers of another.
func (e *Evidence) wrongWay(at, end string) (result.Finding, bool) {
	address := e.addressOn(end, "eth0")
	if address == "" || end == hostOf(end) {
		return result.Finding{}, false
	}
	way, routed := e.route(at, address)
	routed = routed && way.To.Bits() > 0 && !way.Blackhole // the default route is not BGP's
	behind := e.deviceOf(hostOf(end), way.Via.String()) != "" || !way.Via.IsValid() && strings.HasPrefix(way.Device, "tunl")
	if routed && behind {
		return result.Finding{}, false
	}
	f := result.Finding{
		Cause:      fmt.Sprintf("BGP brings %s no route to %s (%s): the speakers do not meet on the interface between the hosts", at, end, address),
		Evidence:   []result.Evidence{seen("route to "+address, "none", at, result.SourceRoutes), e.said()},
		Remedy:     remedy(at, "ip route replace "+address+" via "+e.addressOn(hostOf(end), "eth0")),
		Fix:        "until the BGP speaker is bound to the interface and address by which this host is reached",
		Confidence: 0.96,
	}
	if routed {
		f.Cause = fmt.Sprintf("%s sends to %s (%s) by %q, where the other host is not: BGP speaks by the wrong interface", at, end, address, way.Way())
		f.Evidence[0].Value = way.To.String() + " " + way.Way()
	}
	return f, true
}
