package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
)

// routeDiverted finds a place that refuses the packets of a path by its routes, or
// sends them by another device than the one behind which the other end is: by a rule of
// routing, a route that is preferred, or an address that it has, too.
func routeDiverted() Rule {
	return Rule{
		ID: "route-diverted", Grave: true, Dead: true,
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			for _, at := range e.suspectRouters() {
				var here []result.Finding
				for _, ends := range e.sending() {
					if f, diverted := e.diverted(at, ends[0], ends[1]); diverted {
						here = append(here, f)
					}
				}
				found = append(found, bothWays(here)...)
			}
			return found
		},
	}
}

// bothWays joins the findings of a place that leads packets astray both ways, by different settings: the
// path passes only once both are mended.
func bothWays(here []result.Finding) []result.Finding {
	if len(here) != 2 || here[0].Confidence != here[1].Confidence || here[0].Remedy.Command == here[1].Remedy.Command {
		return here
	}
	f, back := here[0], here[1]
	f.Cause += "; and " + back.Cause
	f.Evidence = append(f.Evidence[:1:1], back.Evidence[0], f.Evidence[1])
	f.Remedy.Then = append(f.Remedy.Then, back.Remedy.Steps()...)
	return []result.Finding{f}
}

// suspectRouters are the places that may have sent packets astray: also an end whose packets a bridge
// of its host passed to another of its ports.
func (e *Evidence) suspectRouters() []string {
	t, _ := e.failed()
	l := e.lost(t)
	end := e.Client
	if l.reply {
		end = e.Server
	}
	if e.strayPort(end, l) {
		return append([]string{end}, e.suspects()...)
	}
	return e.suspects()
}

// strayPort reports whether what an end sent was seen last where a bridge of its host passed it to
// another.
func (e *Evidence) strayPort(end string, l loss) bool {
	return end != hostOf(end) && l.at == hostOf(end) && l.out && e.word(l.at, links, l.device+".master") != "" && e.word(l.at, links, l.device+".kind") == "veth"
}

// anyDiverted reports whether a place sends what is for an end astray.
func (e *Evidence) anyDiverted(at string) bool {
	for _, ends := range e.sending() {
		if _, diverted := e.diverted(at, ends[0], ends[1]); diverted {
			return true
		}
	}
	return false
}

// sending are those who send to each other: the ends, and the hosts at which a tunnel between them
// ends.
func (e *Evidence) sending() [][2]string {
	all := [][2]string{{e.Client, e.Server}, {e.Server, e.Client}}
	a, b := hostOf(e.Client), hostOf(e.Server)
	if a != b && a != e.Client && b != e.Server && len(e.ofKind(a, "vxlan", "geneve", "ipip", "gre", "wireguard")) > 0 {
		all = append(all, [2]string{a, b}, [2]string{b, a})
	}
	return all
}

// diverted examines how a place sends what goes from one end to the other. Only where
// no rule is sure to match, those that ask for a mark are tried.
func (e *Evidence) diverted(at, from, to string) (result.Finding, bool) {
	f := flow{}
	var errs [2]error
	f.from, errs[0] = netip.ParseAddr(e.addressOn(from, "eth0"))
	f.to, errs[1] = netip.ParseAddr(e.addressOn(to, "eth0"))
	if at == to || errs[0] != nil || errs[1] != nil || f.from.Is6() != f.to.Is6() {
		return result.Finding{}, false
	}
	for _, f.marked = range []bool{false, true} {
		w, routed := e.way(at, f)
		routers, _ := catalog.FindNetwork(e.Network)
		if !routed || !w.chosen() && (w.Protocol != "" || routers.Takes(catalog.Router)) || !e.astray(w, f.to) { // a daemon's routes are its own
			continue
		}
		others := e.others(w, f)
		if len(others) == 0 && w.Kind == "" && e.rightGateway(w, to) == "" {
			continue // nothing shows that there is a better one
		}
		found := e.strayed(w, f, to, others)
		if f.marked {
			found.Confidence = 0.7
		}
		return found, true
	}
	return result.Finding{}, false
}

// astray reports whether packets that go by a route do not arrive: it refuses them, its
// next hop does not answer, belongs to nobody on the path, or its device is none of the
// network's.
func (e *Evidence) astray(w way, to netip.Addr) bool {
	if w.Kind != "" {
		return true
	}
	hop := to
	if w.Via.IsValid() {
		hop = w.Via
	}
	state := e.word(w.At, neighbours, hop.String()+" dev "+w.Device)
	if strings.HasSuffix(state, "failed") || strings.HasSuffix(state, "incomplete") || e.bare(w.At, w.Device) {
		return true
	}
	t, _ := e.failed()
	l := e.lost(t)
	if w.Via.IsValid() && e.owner(w.Via.String()) == "" && e.strayPort(w.At, l) {
		return true
	}
	left := l.at == w.At && l.device == w.Device && l.out
	return left && !e.ofUnderlay(w.At, w.Device) && w.At == hostOf(w.At) && !e.leadsTo(w, to)
}

// bare reports whether a device has nothing behind it: a dummy, or a bridge without a port.
func (e *Evidence) bare(at, device string) bool {
	switch e.word(at, links, device+".kind") {
	case "dummy", "ifb":
		return true
	case "bridge":
		for _, port := range e.names(at, links, ".master") {
			if e.word(at, links, port+".master") == device {
				return false
			}
		}
		return true
	}
	return false
}

// leadsTo reports whether the forwarding database or the neighbours know the address's
// own MAC address behind a route's device.
func (e *Evidence) leadsTo(w way, to netip.Addr) bool {
	owner := e.owner(to.String())
	mac := e.word(owner, links, e.deviceOf(owner, to.String())+".mac")
	entry := e.word(w.At, neighbours, to.String()+" dev "+w.Device)
	return mac != "" && strings.HasPrefix(entry, mac)
}

// strayed is the finding of a way that leads astray.
func (e *Evidence) strayed(w way, f flow, to string, others []result.Route) result.Finding {
	target := fmt.Sprintf("%s (%s)", to, f.to)
	does := "sends packets for " + target + " by " + w.Device
	switch w.Kind {
	case "":
	case "local":
		does = fmt.Sprintf("takes packets for %s for its own, by the route %s", target, w.Route)
		if own := e.deviceOf(w.At, f.to.String()); own != "" {
			does = fmt.Sprintf("takes packets for %s for its own: %s is an address of its %s, too", target, f.to, own)
		}
	default:
		does = "refuses packets for " + target
	}
	found := result.Finding{
		Evidence:   []result.Evidence{seen("way to "+f.to.String(), w.Route.String(), w.At, result.SourceRoutes), e.trialFailed()},
		Confidence: 0.95,
	}
	if gateway := strings.TrimSuffix(e.rightGateway(w, to), " onlink"); len(others) == 0 && gateway != "" {
		does = fmt.Sprintf("sends packets for %s to %s, which does not answer, and not to %s", target, w.Via, gateway)
		if mac := e.word(w.At, neighbours, w.Via.String()+" dev "+w.Device); mac != "" && !strings.HasSuffix(mac, "failed") && !strings.HasSuffix(mac, "incomplete") {
			does = fmt.Sprintf("sends packets for %s to %s, which does not pass them on, and not to %s", target, w.Via, gateway)
		}
		if device := e.besideWhich(w); device != "" {
			does = fmt.Sprintf("sends packets for %s to %s by %s, behind which that is not, and not by %s", target, w.Via, w.Device, device)
		}
		if !w.Via.IsValid() {
			does = fmt.Sprintf("takes %s for a neighbour on %s, and does not send to %s", target, w.Device, gateway)
		}
	}
	if len(others) > 0 && w.Kind == "" {
		does += ", behind which it is not, and not by " + others[0].Device
		if others[0].Device == w.Device {
			does = fmt.Sprintf("sends packets for %s to %s, not to %s", target, w.Via, others[0].Via)
		}
		found.Evidence = append(found.Evidence, seen("other route", others[0].String(), w.At, result.SourceRoutes))
	}
	if e.portRoute(w, to, others) {
		does = fmt.Sprintf("has no route to %s by %s, behind which it is, and ", target, others[0].Device)
		if w.Kind == "" {
			does += "sends what is for it by " + w.Device
		} else {
			does += "refuses what has none"
		}
	}
	found.Cause, found.Remedy = w.At+" "+does, remedy(w.At, e.straighten(w, f, to, others))
	same := e.prefixBehind(w, others)
	switch {
	case w.chosen():
		found.Cause += ": " + e.rulesSaySo(e.rulesAstray(w, f))
		found.Evidence[0] = seen("rule", w.by.String(), w.At, "ip rule")
	case w.Kind == "local":
	case same.IsValid():
		found.Cause += ": both have addresses of " + same.Masked().String()
		found.Evidence = append(found.Evidence, seen(w.Device+" has", same.String(), w.At, "ip address"))
	default:
		found.Cause += ": its route " + w.Route.String() + " says so"
	}
	return found
}

// straighten is the command that removes what leads packets astray, and adds a route
// where none is left that leads to the end.
func (e *Evidence) straighten(w way, f flow, to string, others []result.Route) string {
	family := ipOf(f.to)
	if e.portRoute(w, to, others) {
		return fmt.Sprintf("%s route replace %s dev %s%s", family, f.to, others[0].Device, e.control(w.At))
	}
	var command string
	same, own := e.prefixBehind(w, others), e.deviceOf(w.At, f.to.String())
	switch {
	case w.chosen():
		command = withoutRules(family, e.rulesAstray(w, f))
	case w.Kind == "local" && own != "":
		command = fmt.Sprintf("%s addr del %s dev %s", family, e.prefixOf(w.At, f.to), own)
	case same.IsValid():
		command = fmt.Sprintf("%s addr del %s dev %s", family, same, w.Device)
	case len(others) == 0 && w.Via.IsValid() && e.rightGateway(w, to) == f.to.String() && e.neighbourWithout(w, f):
		return family + " route del " + w.Route.String()
	case len(others) == 0 && e.rightGateway(w, to) != "":
		return fmt.Sprintf("%s route replace %s via %s%s", family, w.To, e.rightGateway(w, to), e.control(w.At))
	default:
		command = family + " route del " + w.Route.String()
	}
	if w.Kind == "local" || len(others) > 0 && !others[0].Learned {
		return command
	}
	restore := e.addRoute(w.At, to)
	if len(others) > 0 {
		restore = fmt.Sprintf("%s route add %s%s", family, others[0], e.control(w.At))
	}
	return "sh -c '" + command + "; " + restore + "'"
}

// portRoute reports whether what a way needs is a route of an end alone, by its port, beside what is there.
func (e *Evidence) portRoute(w way, to string, others []result.Route) bool {
	port := e.portOf(w.At, to)
	return len(others) > 0 && others[0].Device == port && port != "" && !w.chosen()
}

// holds reports whether a network has an address.
func holds(network netip.Prefix, address string) bool {
	a, err := netip.ParseAddr(address)
	return err != nil || network.Contains(a)
}

// rightGateway is the gateway that a place needs in place of one that nobody on the path
// has; empty: it is not known.
func (e *Evidence) rightGateway(w way, to string) string {
	switch device := e.besideWhich(w); {
	case device != "":
		return w.Via.String() + " dev " + device
	case w.Kind != "" || w.Via.IsValid() && e.owner(w.Via.String()) != "":
		return ""
	case !w.Via.IsValid() && (w.At != hostOf(w.At) || !e.ofUnderlay(w.At, w.Device) || holds(w.To, e.addressOn(hostOf(to), "eth0"))):
		return "" // neighbours need none
	case w.At != hostOf(w.At):
		if e.deviceIn(hostOf(w.At), e.prefixOn(w.At, "eth0").Masked()) == "" {
			return ""
		}
		return e.gateway(w.At, w.Via.Is6())
	case w.At == hostOf(to):
		return ""
	}
	if tunnel := e.routedTunnel(w.At, hostOf(to)); tunnel != "" && to != hostOf(to) {
		return strings.TrimPrefix(tunnel, "via ")
	}
	return e.addressOn(hostOf(to), "eth0")
}

// besideWhich is the device of a place that has an address of its gateway's network, where a way goes by
// another to a gateway that is on the path; empty: the way is by the right one, or nobody knows.
func (e *Evidence) besideWhich(w way) string {
	if w.Kind != "" || !w.Via.IsValid() || e.owner(w.Via.String()) == "" || e.onLink(w) {
		return ""
	}
	for _, a := range e.Addresses {
		if a.At == w.At && a.Prefix.Contains(w.Via) && a.Device != w.Device && a.Device != "lo" {
			return a.Device
		}
	}
	return ""
}

// neighbourWithout reports whether a place takes an address for a neighbour by another route, once that of
// a way is gone.
func (e *Evidence) neighbourWithout(w way, f flow) bool {
	return slices.ContainsFunc(e.Routes, func(r result.Route) bool {
		return r.At == w.At && r.Table == 0 && !r.Learned && r.Kind == "" && !r.Via.IsValid() && r.To.Contains(f.to) && r.Device == w.Device
	})
}

// onLink reports whether the device of a way has an address of its gateway's network.
func (e *Evidence) onLink(w way) bool {
	return slices.ContainsFunc(e.Addresses, func(a result.Address) bool {
		return a.At == w.At && a.Device == w.Device && a.Prefix.Contains(w.Via)
	})
}

// prefixBehind is the address of a place's device that made a route which leads astray,
// while another device has one of the same network; invalid: it is another route.
func (e *Evidence) prefixBehind(w way, others []result.Route) netip.Prefix {
	if w.Via.IsValid() || len(others) == 0 || others[0].Device == w.Device {
		return netip.Prefix{}
	}
	for _, a := range e.Addresses {
		if a.At == w.At && a.Device == w.Device && a.Prefix.Masked() == w.To {
			return a.Prefix
		}
	}
	return netip.Prefix{}
}

// prefixOf is an address of a place with its length.
func (e *Evidence) prefixOf(at string, address netip.Addr) netip.Prefix {
	for _, a := range e.Addresses {
		if a.At == at && a.Prefix.Addr() == address {
			return a.Prefix
		}
	}
	return netip.PrefixFrom(address, address.BitLen())
}

// ipOf is the command for a version of IP.
func ipOf(a netip.Addr) string {
	if a.Is6() {
		return "ip -6"
	}
	return "ip"
}
