package diagnose

import (
	"fmt"

	"tare/result"
)

// routeMissing finds a place that has no route to one of the ends.
func routeMissing() Rule {
	return Rule{
		ID: "route-missing", Grave: true, Dead: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			var found []result.Finding
			for _, end := range []string{e.Client, e.Server} {
				address := e.addressOn(end, "eth0")
				way, routed := e.route(at, address)
				lacks := e.counted(at, netstat, "IpExt.InNoRoutes") + e.counted(at, snmp, "Ip.OutNoRoutes")
				if end == at || address == "" || routed && !way.Blackhole || lacks == 0 {
					continue
				}
				found = append(found, result.Finding{
					Cause: fmt.Sprintf("%s has no route to %s (%s)", at, end, address),
					Evidence: []result.Evidence{
						seen("packets without a route", lacks, at, netstat), seen("route to "+address, "none", at, result.SourceRoutes), e.trialFailed(),
					},
					Remedy:     remedy(at, fmt.Sprintf("ip route add %s/32 via %s", address, e.addressOn(hostOf(end), "eth0"))+e.control(at)),
					Confidence: 0.94,
				})
			}
			return found
		}),
	}
}

// control is the congestion control that other routes of a place set, as words of a route; empty: none does.
func (e *Evidence) control(at string) string {
	for _, r := range e.Routes {
		if r.At == at && r.CC != "" {
			return " congctl " + r.CC
		}
	}
	return ""
}
