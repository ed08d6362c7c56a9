package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"tare/result"
)

// overlayStaleVXLAN finds an overlay with a host that has no VXLAN device, or one
// whose settings differ from the other host's: after a failed join, or left over from
// a removed network.
func overlayStaleVXLAN() Rule {
	return Rule{
		ID: "overlay-stale-vxlan", Grave: true, Dead: true,
		Match: func(e *Evidence) []result.Finding {
			a, b := hostOf(e.Client), hostOf(e.Server)
			if a == b {
				return nil
			}
			var found []result.Finding
			for _, pair := range [][2]string{{a, b}, {b, a}} {
				if f, stale := e.staleVXLAN(pair[0], pair[1]); stale {
					found = append(found, f)
				}
			}
			return found
		},
	}
}

// staleVXLAN compares the VXLAN device of a host with that of the other, and reports
// whether it is missing or stale.
func (e *Evidence) staleVXLAN(at, other string) (result.Finding, bool) {
	own, theirs := e.vxlans(at), e.vxlans(other)
	if len(theirs) == 0 {
		return result.Finding{}, false
	}
	device := theirs[0]
	vni, port := e.number(other, links, device+".vni"), e.number(other, links, device+".port")
	f := result.Finding{Confidence: 0.98}
	f.Evidence = append(f.Evidence, seen(device+".vni", vni, other, links), seen(device+".port", port, other, links), e.trialFailed())
	if len(own) == 0 {
		f.Cause = fmt.Sprintf("%s has no VXLAN device and %s has one of VNI %v: the join failed, or a device with this VNI exists in another namespace", at, other, vni)
		f.Fix = e.run(at, fmt.Sprintf("sh -c 'ip -all netns exec ip -o link show type vxlan; ss -uln sport = :%v'", port)) + "  # delete the device of this VNI, then join the network again"
		return f, true
	}
	device = own[0]
	ownVNI, ownPort := e.number(at, links, device+".vni"), e.number(at, links, device+".port")
	if ownVNI != vni || ownPort != port {
		if !e.remade(at, other) {
			return f, false // it is the other that has changed
		}
		f.Cause = fmt.Sprintf("%s of %s has VNI %v and port %v, that of %s VNI %v and port %v", device, at, ownVNI, ownPort, other, vni, port)
		f.Evidence = append(f.Evidence, seen(device+".vni", ownVNI, at, links), seen(device+".port", ownPort, at, links))
		f.Remedy = remedy(at, e.remake(at, device, vni, port))
		f.Fix = "this is the one that was made after its host's containers, or is not on the usual port"
		return f, true
	}
	if foreign, is := e.foreignSource(at, device); is {
		return foreign, true
	}
	if astray, is := e.misledTunnel(at, other, device); is {
		return astray, true
	}
	known := 0
	for _, name := range e.names(at, fdb, " dev "+device) {
		if e.ofHost(other, e.tunnelEnds(at, device, name)) {
			known++
		}
	}
	t, _ := e.failed()
	l := e.lost(t)
	stuck := l.at == at && l.device == device && l.out && e.counted(at, linkStats, device+".tx_dropped") > 0
	mac, whose := e.behind(other), e.endOn(other)
	if mac == "" {
		mac, whose = e.word(other, links, e.vxlans(other)[0]+".mac"), other
	}
	if known > 0 && (!stuck || e.ofHost(other, e.tunnelEnds(at, device, mac)) || len(e.wrongNeighbours(e.Client))+len(e.wrongNeighbours(e.Server)) > 0) {
		return f, false // it drops packets without an entry, as it should
	}
	command := fmt.Sprintf("bridge fdb append 00:00:00:00:00:00 dev %s dst %s", device, e.addressOn(other, "eth0"))
	f.Cause = fmt.Sprintf("%s of %s has no entry for %s in its forwarding database", device, at, other)
	if known > 0 {
		f.Cause = fmt.Sprintf("%s of %s has no entry for %s (%s) in its forwarding database", device, at, mac, whose)
		command = fmt.Sprintf("bridge fdb append %s dev %s dst %s", mac, device, e.addressOn(other, "eth0"))
	}
	if all := e.remadeTunnel(at, other); all != "" {
		f.Cause += ", and what leads there was lost with it"
		command = all
	}
	f.Evidence = append(f.Evidence,
		seen("entries of "+device+" that lead to "+other, known, at, fdb),
		seen(device+".tx_dropped", e.counted(at, linkStats, device+".tx_dropped"), at, linkStats))
	f.Remedy = remedy(at, command)
	return f, true
}

// remadeTunnel is the command that gives a host the neighbour and the route by which its tunnel reaches
// another, where both went with the tunnel's device; empty: it has them, or a bridge leads there.
func (e *Evidence) remadeTunnel(at, other string) string {
	address, err := netip.ParseAddr(e.addressOn(e.endOn(other), "eth0"))
	if err != nil || e.routedTunnel(at, other) == "" {
		return ""
	}
	if _, routed := e.way(at, flow{to: address, marked: true}); !routed {
		return e.addRoute(at, e.endOn(other))
	}
	return strings.TrimSuffix(e.knowsEnd(at, other), " && ")
}

// vxlans are the VXLAN devices of a place.
func (e *Evidence) vxlans(at string) []string { return e.names(at, links, ".vni") }

// tunnelEnds are the addresses to which a tunnel's device sends what is for a MAC address.
// A bridge may have an entry for the same, which has none.
func (e *Evidence) tunnelEnds(at, device, mac string) (addresses []string) {
	for _, entry := range strings.Split(e.word(at, fdb, mac+" dev "+device), ", ") {
		if first, _, several := strings.Cut(entry, " "); several {
			addresses = append(addresses, first)
		}
	}
	return addresses
}

// ofHost reports whether a host has one of some addresses.
func (e *Evidence) ofHost(host string, addresses []string) bool {
	return slices.ContainsFunc(addresses, func(a string) bool { return e.deviceOf(host, a) != "" })
}

// endOn is the end of the path that is on a host.
func (e *Evidence) endOn(host string) string {
	if hostOf(e.Client) == host {
		return e.Client
	}
	return e.Server
}

// behind is the MAC address by which a bridge reaches the end on a host; empty: the
// tunnel ends there, and is routed.
func (e *Evidence) behind(host string) string {
	devices := e.vxlans(host)
	if len(devices) == 0 || e.word(host, links, devices[0]+".master") == "" {
		return ""
	}
	return e.word(e.endOn(host), links, "eth0.mac")
}

// foreignSource is the finding of a tunnel's device that sends from an address that its host does
// not have.
func (e *Evidence) foreignSource(at, device string) (f result.Finding, is bool) {
	local, right := e.word(at, links, device+".local"), e.addressOn(at, "eth0")
	if local == "" || right == "" || e.deviceOf(at, local) != "" {
		return f, false
	}
	return result.Finding{
		Cause:      fmt.Sprintf("%s of %s sends from %s, which is no address of %s", device, at, local, at),
		Evidence:   []result.Evidence{seen(device+".local", local, at, links), seen("eth0 has", right, at, "ip address"), e.trialFailed()},
		Remedy:     remedy(at, fmt.Sprintf("ip link set dev %s type vxlan local %s", device, right)),
		Confidence: 0.98,
	}, true
}

// misledTunnel is the finding of a tunnel's device that sends what is for the other host,
// or for the end there, to an address that the other host does not have.
func (e *Evidence) misledTunnel(at, other, device string) (f result.Finding, is bool) {
	own := ""
	if devices := e.vxlans(other); len(devices) > 0 {
		own = e.word(other, links, devices[0]+".mac")
	}
	for mac, whose := range map[string]string{e.behind(other): e.endOn(other), own: other} {
		to := e.tunnelEnds(at, device, mac)
		right := e.addressOn(other, "eth0")
		if mac == "" || len(to) == 0 || e.ofHost(other, to) || right == "" {
			continue
		}
		return result.Finding{
			Cause:      fmt.Sprintf("%s of %s sends packets for %s (%s) to %s, which is not %s (%s)", device, at, mac, whose, strings.Join(to, ", "), other, right),
			Evidence:   []result.Evidence{seen(mac+" dev "+device, e.word(at, fdb, mac+" dev "+device), at, fdb), e.trialFailed()},
			Remedy:     remedy(at, fmt.Sprintf("bridge fdb replace %s dev %s dst %s", mac, device, right)),
			Confidence: 0.98,
		}, true
	}
	return f, false
}
