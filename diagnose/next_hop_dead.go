package diagnose

import (
	"fmt"
	"net/netip"
	"strings"

	"tare/result"
)

// nextHopDead finds a route with several next hops of which some do not answer: what
// is sent by these is lost, flow by flow.
func nextHopDead() Rule {
	return Rule{
		ID: "next-hop-dead", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			if _, failed := e.failed(); !failed {
				return nil
			}
			var found []result.Finding
			for _, at := range e.Places {
				for _, ends := range [][2]string{{e.Client, e.Server}, {e.Server, e.Client}} {
					if f, dead := e.deadHop(at, ends[0], ends[1]); dead {
						found = append(found, f)
					}
				}
			}
			return found
		},
	}
}

func (e *Evidence) deadHop(at, from, to string) (f result.Finding, some bool) {
	source, _ := netip.ParseAddr(e.addressOn(from, "eth0"))
	target, err := netip.ParseAddr(e.addressOn(to, "eth0"))
	w, routed := e.way(at, flow{from: source, to: target})
	if err != nil || at == to || !routed || len(w.Hops) < 2 {
		return f, false
	}
	var dead []string
	whole := w.Route
	whole.Hops, whole.Via, whole.Device = nil, netip.Addr{}, ""
	for _, hop := range w.Hops {
		state := e.word(at, neighbours, hop.Via.String()+" dev "+hop.Device)
		switch {
		case strings.HasSuffix(state, "failed") || strings.HasSuffix(state, "incomplete") || e.bare(at, hop.Device):
			dead = append(dead, strings.TrimPrefix(result.Route{Via: hop.Via, Device: hop.Device}.Way(), "via "))
		case hop.Via.IsValid() && e.owner(hop.Via.String()) == "" && state == "": // nothing shows that it is alive
		case whole.Device == "" || e.owner(hop.Via.String()) != "":
			whole.Via, whole.Device = hop.Via, hop.Device
		}
	}
	if len(dead) == 0 || whole.Device == "" {
		return f, false
	}
	return result.Finding{
		Cause: fmt.Sprintf("%s sends to %s by %d next hops, of which %d lead nowhere (%s): what is sent by these is lost", at, w.To, len(w.Hops), len(dead), strings.Join(dead, ", ")),
		Evidence: []result.Evidence{
			seen("route to "+w.To.String(), w.Way(), at, result.SourceRoutes), seen("next hops that lead nowhere", len(dead), at, neighbours), e.trialFailed(),
		},
		Remedy:     remedy(at, ipOf(w.To.Addr())+" route replace "+whole.String()),
		Confidence: 0.97,
	}, true
}
