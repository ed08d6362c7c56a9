package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"tare/result"
)

// mtuMismatch finds devices, routes and remembered paths whose MTU is below that of the
// path: all data arrives, but in smaller packets or fragments, and the first packet may
// be refused. They are one finding: of two ends of a link the first that is mended alone
// would lose what the other can't receive.
func mtuMismatch() Rule {
	return Rule{
		ID: "mtu-mismatch",
		Match: func(e *Evidence) []result.Finding {
			f, narrow := e.narrowed()
			if _, failed := e.failed(); failed || !narrow {
				return nil
			}
			return []result.Finding{f}
		},
	}
}

// narrowed is the finding of all that lets only small packets pass, and mends all of it.
func (e *Evidence) narrowed() (f result.Finding, found bool) {
	if e.Inner <= 0 {
		return f, false
	}
	all := append(e.narrowDevices(), e.narrowRoutes()...)
	remembered := e.remembered()
	if len(all) == 0 {
		all = remembered
	} else {
		for _, n := range remembered {
			all = append(all, narrowing{evidence: n.evidence, at: n.at, command: n.command})
		}
	}
	if len(all) == 0 {
		return f, false
	}
	f.Confidence = 0.93
	var says []string
	for _, n := range all {
		if n.says != "" {
			says = append(says, n.says)
		}
		f.Evidence = append(f.Evidence, n.evidence...)
		if f.Remedy == nil {
			f.Remedy = remedy(n.at, n.command)
		} else if step := (result.Step{At: n.at, Command: n.command}); !slices.Contains(f.Remedy.Steps(), step) {
			f.Remedy.Then = append(f.Remedy.Then, step)
		}
	}
	f.Cause = strings.Join(says, ", and ")
	return f, true
}

// narrowing is one thing that lets only small packets pass, and what mends it.
type narrowing struct {
	at, says, command string
	evidence          []result.Evidence
}

// allowed is the MTU of the path at a device.
func (e *Evidence) allowed(at, device string) int {
	if e.ofUnderlay(at, device) {
		return e.MTU
	}
	return e.Inner
}

func (e *Evidence) narrowDevices() (found []narrowing) {
	for _, at := range e.Places {
		for _, device := range e.devices(at) {
			mtu, need := int(e.number(at, links, device+".mtu")), e.allowed(at, device)
			if mtu == 0 || mtu >= need {
				continue
			}
			cut := e.counted(at, snmp, "Ip.FragCreates") + e.counted(at, snmp, "Ip.FragFails")
			found = append(found, narrowing{
				at: at, says: fmt.Sprintf("%s in %s has MTU %d, the path allows %d", device, at, mtu, need),
				command:  fmt.Sprintf("ip link set dev %s mtu %d", device, need),
				evidence: []result.Evidence{seen(device+".mtu", mtu, at, links), seen("Ip.FragCreates and Ip.FragFails", cut, at, snmp)},
			})
		}
	}
	return found
}

// narrowRoutes are routes of the path that have an MTU by themselves.
func (e *Evidence) narrowRoutes() (found []narrowing) {
	for _, ends := range [][2]string{{e.Client, e.Server}, {e.Server, e.Client}} {
		from, _ := netip.ParseAddr(e.addressOn(ends[0], "eth0"))
		to, err := netip.ParseAddr(e.addressOn(ends[1], "eth0"))
		for _, at := range e.Places {
			w, routed := e.way(at, flow{from: from, to: to})
			if err != nil || at == ends[1] || !routed || w.MTU == 0 || int(w.MTU) >= e.allowed(at, w.Device) {
				continue
			}
			whole := w.Route
			whole.MTU, whole.Locked, whole.Protocol = 0, false, ""
			control := ""
			if whole.CC == "" {
				control = e.control(at)
			}
			found = append(found, narrowing{
				at: at, says: fmt.Sprintf("the route of %s to %s has MTU %d, the path allows %d", at, w.To, w.MTU, e.allowed(at, w.Device)),
				command:  ipOf(to) + " route replace " + whole.String() + control,
				evidence: []result.Evidence{seen("route to "+w.To.String(), w.Way(), at, result.SourceRoutes)},
			})
		}
	}
	return found
}

// remembered are the paths to which a sender keeps to an MTU that it was answered with,
// for ten minutes after it was true (mtu_expires).
func (e *Evidence) remembered() (found []narrowing) {
	for _, r := range e.Routes {
		owner := e.owner(r.To.Addr().String())
		if !r.Learned || r.MTU == 0 || int(r.MTU) >= e.allowed(r.At, r.Device) || owner == "" || owner == r.At {
			continue
		}
		found = append(found, narrowing{
			at: r.At, says: fmt.Sprintf("%s remembers an MTU of %d for %s, the path allows %d", r.At, r.MTU, r.To.Addr(), e.allowed(r.At, r.Device)),
			command:  ipOf(r.To.Addr()) + " route flush cache",
			evidence: []result.Evidence{seen("route cache for "+r.To.Addr().String(), r.MTU, r.At, "ip route show cache")},
		})
	}
	return found
}
