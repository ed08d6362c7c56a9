package diagnose

import (
	"fmt"
	"strings"

	"tare/result"
)

// congestionControl finds a route that sets another congestion control for its flows
// than the plan does.
func congestionControl() Rule {
	return Rule{
		ID: "congestion-control", Grave: true, Doc: doc("congestion-control"),
		Cause: "a route sets another congestion control for its flows than the plan does",
		Fix:   "ip route change NETWORK ... congctl NAME",
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			for _, way := range []struct{ from, to string }{{e.Client, e.Dial}, {e.Server, e.addressOn(e.Client, "eth0")}} {
				to, route, _ := e.route(way.from, way.to)
				rest, has, set := strings.Cut(route, " congctl ")
				if e.CC == "" || !set || has == e.CC {
					continue
				}
				if strings.Contains(rest, "via ") {
					rest += " onlink" // a gateway may be outside the place's own ranges
				}
				found = append(found, result.Finding{
					Cause:      fmt.Sprintf("what %s sends to %s uses congestion control %s, not %s as planned", way.from, to, has, e.CC),
					Evidence:   []result.Evidence{seen("route to "+to, route, way.from, result.SourceRoutes)},
					Remedy:     remedy(way.from, fmt.Sprintf("ip route change %s %s congctl %s", to, rest, e.CC)),
					Confidence: 0.97,
				})
			}
			return found
		},
	}
}
