package diagnose

import (
	"fmt"
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
		if at > other {
			return f, false // the other direction reports it
		}
		f.Cause = fmt.Sprintf("%s of %s has VNI %v and port %v, that of %s VNI %v and port %v", device, at, ownVNI, ownPort, other, vni, port)
		f.Evidence = append(f.Evidence, seen(device+".vni", ownVNI, at, links), seen(device+".port", ownPort, at, links))
		f.Fix = e.run(at, fmt.Sprintf("ip link del %s", device)) + "  # then join the network again"
		return f, true
	}
	known := 0
	for name, value := range e.state(at, fdb) {
		text, _ := value.(string)
		to, _, _ := strings.Cut(text, " ")
		if strings.HasSuffix(name, " dev "+device) && e.deviceOf(other, to) != "" {
			known++
		}
	}
	t, _ := e.failed()
	l := e.lost(t)
	stuck := l.at == at && l.device == device && l.out && e.counted(at, linkStats, device+".tx_dropped") > 0
	if known > 0 && (!stuck || len(e.wrongNeighbours(e.Client))+len(e.wrongNeighbours(e.Server)) > 0) {
		return f, false // it drops packets without an entry, as it should
	}
	f.Cause = fmt.Sprintf("%s of %s has no entry for %s in its forwarding database", device, at, other)
	f.Evidence = append(f.Evidence,
		seen("entries of "+device+" that lead to "+other, known, at, fdb),
		seen(device+".tx_dropped", e.counted(at, linkStats, device+".tx_dropped"), at, linkStats))
	f.Remedy = remedy(at, fmt.Sprintf("bridge fdb append 00:00:00:00:00:00 dev %s dst %s", device, e.addressOn(other, "eth0")))
	return f, true
}

// vxlans are the VXLAN devices of a place.
func (e *Evidence) vxlans(at string) []string { return e.names(at, links, ".vni") }

// addressOn is an address of a device; empty: it has none.
func (e *Evidence) addressOn(at, device string) string {
	for _, a := range e.Addresses {
		if a.At == at && a.Device == device {
			return a.Prefix.Addr().String()
		}
	}
	return ""
}
