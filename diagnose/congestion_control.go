package diagnose

import (
	"fmt"

	"tare/result"
)

// congestionControl finds a route that sets another congestion control for its flows
// than the plan does.
func congestionControl() Rule {
	return Rule{
		ID: "congestion-control", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			for _, way := range []struct{ from, to string }{{e.Client, e.Dial}, {e.Server, e.addressOn(e.Client, "eth0")}} {
				route, _ := e.route(way.from, way.to)
				if e.CC == "" || route.CC == "" || route.CC == e.CC {
					continue
				}
				plain := route
				plain.CC = ""
				rest := plain.Way()
				if route.Via.IsValid() {
					rest += " onlink" // a gateway may be outside the place's own ranges
				}
				found = append(found, result.Finding{
					Cause:      fmt.Sprintf("what %s sends to %s uses congestion control %s, not %s as planned", way.from, route.To, route.CC, e.CC),
					Evidence:   []result.Evidence{seen("route to "+route.To.String(), route.Way(), way.from, result.SourceRoutes)},
					Remedy:     remedy(way.from, fmt.Sprintf("ip route change %s %s congctl %s", route.To, rest, e.CC)),
					Confidence: 0.97,
				})
			}
			return found
		},
	}
}
