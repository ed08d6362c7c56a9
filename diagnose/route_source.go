package diagnose

import (
	"fmt"
	"net/netip"

	"tare/result"
)

// sourceUnknown is the finding that an end sends from an address that its route names, to which a
// place has no route back.
func (e *Evidence) sourceUnknown(at, end string) (f result.Finding, unknown bool) {
	peer := e.Server
	if end == e.Server {
		peer = e.Client
	}
	to, err := netip.ParseAddr(e.addressOn(peer, "eth0"))
	w, routed := e.way(end, flow{to: to})
	if err != nil || !routed || !w.Source.IsValid() || w.Source.String() == e.addressOn(end, "eth0") {
		return f, false
	}
	if _, back := e.way(at, flow{to: w.Source, marked: true}); back || e.counted(at, netstat, "IpExt.InNoRoutes")+e.counted(at, snmp, "Ip.OutNoRoutes") == 0 {
		return f, false
	}
	plain := w.Route
	plain.Source = netip.Addr{}
	return result.Finding{
		Cause: fmt.Sprintf("%s has no route to %s, from which %s sends: its route %s says so", at, w.Source, end, w.Route),
		Evidence: []result.Evidence{
			seen("route to "+w.Source.String(), "none", at, result.SourceRoutes), seen("src", w.Source.String(), end, result.SourceRoutes), e.trialFailed(),
		},
		Remedy:     remedy(end, ipOf(to)+" route replace "+plain.String()),
		Confidence: 0.95,
	}, true
}
