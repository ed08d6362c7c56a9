package diagnose

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"tare/result"
)

// routeMissing finds a place that has no route to one of the ends.
func routeMissing() Rule {
	return Rule{
		ID: "route-missing", Grave: true, Dead: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			var found []result.Finding
			for _, end := range e.wanted(at) {
				address, err := netip.ParseAddr(e.addressOn(end, "eth0"))
				if end == at || err != nil {
					continue
				}
				if f, astray := e.sourceUnknown(at, end); astray && (end == e.Client || end == e.Server) {
					found = append(found, f)
					continue
				}
				_, routed := e.way(at, flow{to: address, marked: true})
				lacks := e.counted(at, netstat, "IpExt.InNoRoutes") + e.counted(at, snmp, "Ip.OutNoRoutes")
				if routed || lacks == 0 && (address.Is4() && end != hostOf(end) || !slices.Contains(e.suspects(), at)) {
					continue
				}
				found = append(found, result.Finding{
					Cause: fmt.Sprintf("%s has no route to %s (%s)", at, end, address),
					Evidence: []result.Evidence{
						seen("packets without a route", lacks, at, netstat), seen("route to "+address.String(), "none", at, result.SourceRoutes), e.trialFailed(),
					},
					Remedy:     remedy(at, e.addRoute(at, end)),
					Confidence: 0.94,
				})
			}
			return found
		}),
	}
}

// wanted are those that a place needs a route to: the ends and, at a host with a tunnel to another, that
// one.
func (e *Evidence) wanted(at string) []string {
	ends := []string{e.Client, e.Server}
	for _, pair := range e.sending()[2:] {
		if pair[0] == at {
			ends = append(ends, pair[1])
		}
	}
	return ends
}

// addRoute is the command that gives a place a route to an end, with what its other
// routes have: to the whole network of the end, or, for a container, to all that its
// host reaches.
func (e *Evidence) addRoute(at, end string) string {
	prefix := e.prefixOn(end, "eth0")
	to, via := prefix.Masked(), e.addressOn(hostOf(end), "eth0")
	device := e.deviceIn(at, to)
	if port := e.portOf(at, end); port != "" {
		device = cmp.Or(e.word(at, links, port+".master"), port)
	}
	if device != "" {
		return fmt.Sprintf("%s route add %s dev %s", ipOf(to.Addr()), to, device) + e.control(at)
	}
	if tunnel := e.routedTunnel(at, hostOf(end)); tunnel != "" {
		return e.knowsEnd(at, hostOf(end)) + fmt.Sprintf("%s route add %s %s", ipOf(to.Addr()), to, tunnel) + e.control(at)
	}
	if at != hostOf(at) {
		to = netip.PrefixFrom(prefix.Addr(), 0).Masked()
		via = e.gateway(at, prefix.Addr().Is6())
	}
	return e.reach(at, via) + fmt.Sprintf("%s route add %s via %s", ipOf(prefix.Addr()), to, via) + e.control(at)
}

// routedTunnel is the next hop by which a host reaches the containers of another through a tunnel
// that no bridge has, as flannel's; empty: it has none.
func (e *Evidence) routedTunnel(at, other string) string {
	own, theirs := e.vxlans(at), e.vxlans(other)
	if at != hostOf(at) || at == other || len(own) == 0 || len(theirs) == 0 || e.addressOn(at, own[0]) == "" || e.addressOn(other, theirs[0]) == "" {
		return ""
	}
	return fmt.Sprintf("via %s dev %s onlink", e.addressOn(other, theirs[0]), own[0])
}

// knowsEnd is the command, with what joins another to it, by which a host knows the other's end of
// such a tunnel, where it was lost with the routes; empty: it does.
func (e *Evidence) knowsEnd(at, other string) string {
	device, theirs := e.vxlans(at)[0], e.vxlans(other)[0]
	address, mac := e.addressOn(other, theirs), e.word(other, links, theirs+".mac")
	if state := e.word(at, neighbours, address+" dev "+device); mac == "" || strings.HasPrefix(state, mac) || e.state(at, links)[device+".nolearning"] != true {
		return ""
	}
	return e.pinned(at, address, device, other, mac, "") + " && "
}

// reach is the command, with what joins another to it, that gives a place the route to the
// network of a gateway, where it has lost that, too; empty: it has one.
func (e *Evidence) reach(at, via string) string {
	gateway, err := netip.ParseAddr(via)
	if err != nil { // it is said to be on the link
		return ""
	}
	if _, routed := e.way(at, flow{to: gateway, marked: true}); routed {
		return ""
	}
	for _, a := range e.Addresses {
		own, device := a.At == at && a.Prefix.Contains(gateway), a.Device
		if at != hostOf(at) && a.At == hostOf(at) && a.Prefix.Addr() == gateway { // the place's own may be too narrow
			own, device = true, "eth0"
		}
		if own && a.Prefix.Bits() < gateway.BitLen() {
			return fmt.Sprintf("%s route add %s dev %s", ipOf(gateway), a.Prefix.Masked(), device) + e.control(at) + " && "
		}
	}
	return ""
}

// control is the congestion control that the routes of a place have, as a new one needs it;
// empty: they have none.
func (e *Evidence) control(at string) string {
	for _, r := range e.Routes {
		if r.At == at && r.Table == 0 && r.CC != "" {
			return " congctl " + r.CC
		}
	}
	return ""
}

// gateway is the address of a container's host in the container's own network; where
// it has none there, the gateway of the other end.
func (e *Evidence) gateway(at string, six bool) string {
	own := e.prefixOn(at, "eth0")
	for _, a := range e.Addresses {
		if a.At == hostOf(at) && a.Device != "lo" && a.Prefix.Addr().Is6() == six && (own.Masked().Contains(a.Prefix.Addr()) || a.Prefix.Contains(own.Addr())) {
			return a.Prefix.Addr().String()
		}
	}
	for _, r := range e.Routes {
		if (r.At == e.Client || r.At == e.Server) && r.At != at && r.Via.IsValid() && r.To.Bits() == 0 && r.Via.Is6() == six {
			return r.Via.String() + " dev eth0 onlink"
		}
	}
	return e.addressOn(hostOf(at), "eth0")
}

// deviceIn is the device of a place with an address of a network; empty: none.
func (e *Evidence) deviceIn(at string, network netip.Prefix) string {
	for _, a := range e.Addresses {
		if a.At == at && network.Contains(a.Prefix.Addr()) {
			return a.Device
		}
	}
	return ""
}
