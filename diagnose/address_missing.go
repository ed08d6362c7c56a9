package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
)

// addressMissing finds a place that lost the address at which the others on the path look for
// it: a lease that ran out, a manager of networks that took it, IPv6 that was turned off.
func addressMissing() Rule {
	return Rule{
		ID: "address-missing", Grave: true, Dead: true,
		Match: atEach(func(e *Evidence, at string) (found []result.Finding) {
			found = append(e.refusedAddresses(at), e.retiredAddresses(at)...)
			lost, looks := e.lostAddress(at)
			device := "eth0"
			if !lost.IsValid() {
				lost, looks, device = e.lostGateway(at)
			}
			if !lost.IsValid() {
				return found
			}
			f := result.Finding{
				Cause:      fmt.Sprintf("%s has no address %s on %s, where %s looks for it", at, lost.Addr(), device, looks),
				Evidence:   []result.Evidence{seen(lost.Addr().String(), "none", at, "ip address"), e.trialFailed()},
				Confidence: 0.97,
			}
			command := fmt.Sprintf("%s addr add %s dev %s", ipOf(lost.Addr()), lost, device)
			if lost.Addr().Is6() {
				command += " nodad"
			}
			for _, scope := range []string{"all", device} {
				setting := "ipv6/conf/" + scope + "/disable_ipv6"
				if lost.Addr().Is6() && e.number(at, sysctls, setting) == 1 {
					f.Cause += ": IPv6 is turned off there"
					f.Evidence = append(f.Evidence, seen(setting, 1, at, sysctls))
					command = "sysctl -w " + sysctlName(setting) + "=0 && " + command
				}
			}
			with := *e
			with.Addresses = append(with.Addresses[:len(with.Addresses):len(with.Addresses)], result.Address{At: at, Device: device, Prefix: lost})
			f.Remedy = remedy(at, command+with.lostWith(at, device)+with.lostDefault(at))
			return append(found, f)
		}),
	}
}

// lostDefault is the command, with what joins it to one before, that gives a container the default
// route by its host, which went with its address; empty: it has routes left, or its host is no gateway.
func (e *Evidence) lostDefault(at string) string {
	left := func(r result.Route) bool {
		return r.At == at && r.Table == 0 && r.To.Addr().Is6() == e.prefixOn(at, "eth0").Addr().Is6()
	}
	device := e.deviceIn(hostOf(at), e.prefixOn(at, "eth0").Masked())
	if at == hostOf(at) || e.word(hostOf(at), links, device+".kind") != "bridge" || slices.ContainsFunc(e.Routes, left) {
		return ""
	}
	gateway := e.addressOn(hostOf(at), device)
	return fmt.Sprintf(" && %s route replace default via %s", ipFor(gateway), gateway)
}

// refusedAddresses are the findings of an end's addresses that it has and does not use: another on
// the link had them.
func (e *Evidence) refusedAddresses(at string) (found []result.Finding) {
	for _, a := range e.Addresses {
		if a.At != at || !a.Refused || at != e.Client && at != e.Server || len(e.doubles(a.Prefix.Addr())) > 0 {
			continue
		}
		found = append(found, result.Finding{
			Cause:      fmt.Sprintf("%s does not use its address %s: another on the link had it when it was added (dadfailed)", at, a.Prefix.Addr()),
			Evidence:   []result.Evidence{seen(a.Prefix.String(), "dadfailed", at, "ip address"), e.trialFailed()},
			Remedy:     remedy(at, e.again(at, a.Prefix.Addr())),
			Fix:        "once no other has it",
			Confidence: 0.96,
		})
	}
	return found
}

// retiredAddresses are the findings of an end that sends from another address than its own, as that
// is deprecated, and a place has no route back to the other.
func (e *Evidence) retiredAddresses(at string) (found []result.Finding) {
	sends := e.prefixOn(at, "eth0")
	for _, a := range e.Addresses {
		if a.At != at || !a.Retired || a.Device != "eth0" || at != e.Client && at != e.Server || a.Prefix == sends || a.Prefix.Addr().Is6() != sends.Addr().Is6() {
			continue
		}
		for _, place := range e.Places {
			_, back := e.way(place, flow{to: sends.Addr(), marked: true})
			if _, known := e.way(place, flow{to: a.Prefix.Addr(), marked: true}); back || !known || place == at {
				continue
			}
			return append(found, result.Finding{
				Cause:      fmt.Sprintf("%s sends from %s, to which %s has no route, as its address %s is deprecated", at, sends.Addr(), place, a.Prefix.Addr()),
				Evidence:   []result.Evidence{seen(a.Prefix.String(), "deprecated", at, "ip address"), seen("route to "+sends.Addr().String(), "none", place, result.SourceRoutes), e.trialFailed()},
				Remedy:     remedy(at, fmt.Sprintf("%s addr change %s dev eth0 valid_lft forever preferred_lft forever", ipOf(sends.Addr()), a.Prefix)),
				Confidence: 0.97,
			})
		}
	}
	return found
}

// doubles are the neighbour entries that lead to another which has an address, too: wrong-mac names it.
func (e *Evidence) doubles(address netip.Addr) (names []string) {
	for _, at := range e.Places {
		for _, f := range e.wrongNeighbours(at) {
			if name := f.Evidence[0].Name; strings.HasPrefix(name, address.String()+" dev ") && len(f.Remedy.Then) > 0 {
				names = append(names, name)
			}
		}
	}
	return names
}

func (e *Evidence) refused(at string, address netip.Addr) bool {
	return slices.ContainsFunc(e.Addresses, func(a result.Address) bool { return a.At == at && a.Prefix.Addr() == address && a.Refused })
}

// again is the command that gives a place an address anew, and asks nobody.
func (e *Evidence) again(at string, address netip.Addr) string {
	prefix, device := e.prefixOf(at, address), e.deviceOf(at, address.String())
	return fmt.Sprintf("ip -6 addr del %s dev %s && ip -6 addr add %s dev %s nodad", prefix, device, prefix, device)
}

// lostAddress is the address that a place should have, with its length, and who looks for it: the
// one that is dialled, of a container, or the one that the other host sends by, of a host. Invalid:
// it has it, or it is not known.
func (e *Evidence) lostAddress(at string) (lost netip.Prefix, looks string) {
	dial, err := netip.ParseAddr(e.Dial)
	ofVersion := func(a result.Address) bool { return a.At != at && a.Prefix.Addr().Is6() == dial.Is6() }
	if err != nil || !e.up(at, "eth0") || !slices.ContainsFunc(e.Addresses, ofVersion) {
		return lost, ""
	}
	if at == e.Server && at != hostOf(at) && e.dialsEnd() && e.owner(e.Dial) == "" {
		return e.likeOthers(at, dial), e.Client
	}
	if own := e.prefixOn(at, "eth0"); at == e.Client && at != hostOf(at) && (!own.IsValid() || own.Addr().Is6() != dial.Is6()) {
		return e.hadAddress(at, dial.Is6()), hostOf(at)
	}
	other := hostOf(e.Client)
	if at == other {
		other = hostOf(e.Server)
	}
	if at != hostOf(at) || at == other || e.addressOn(at, "eth0") != "" && e.prefixOn(at, "eth0").Addr().Is6() == dial.Is6() {
		return lost, ""
	}
	end, known := netip.ParseAddr(e.addressOn(e.endOn(at), "eth0"))
	if w, routed := e.way(other, flow{to: end}); known == nil && routed && w.Via.IsValid() && e.owner(w.Via.String()) == "" && e.prefixOn(other, "eth0").Contains(w.Via) {
		return netip.PrefixFrom(w.Via, e.prefixOn(other, "eth0").Bits()), other
	}
	for _, device := range e.vxlans(other) {
		for _, to := range e.tunnelEnds(other, device, e.behind(at)) {
			if address, err := netip.ParseAddr(to); err == nil && e.owner(to) == "" && e.prefixOn(other, "eth0").Contains(address) {
				return netip.PrefixFrom(address, e.prefixOn(other, "eth0").Bits()), other
			}
		}
	}
	return lost, ""
}

// lostGateway is the address by which a host's containers send to others, and its bridge, where that
// has none of their network. Invalid: it has it, or there is no bridge.
func (e *Evidence) lostGateway(at string) (lost netip.Prefix, looks, device string) {
	for _, end := range []string{e.Client, e.Server} {
		bridge := e.word(at, links, e.portOf(at, end)+".master")
		own := e.prefixOn(end, "eth0")
		if end == at || !own.IsValid() || !e.up(at, bridge) || e.word(at, links, bridge+".kind") != "bridge" {
			continue
		}
		for _, r := range e.Routes {
			if r.At == end && r.To.Bits() == 0 && own.Contains(r.Via) && e.owner(r.Via.String()) == "" && !e.hasIn(at, bridge, own.Masked()) {
				return netip.PrefixFrom(r.Via, own.Bits()), end, bridge
			}
		}
	}
	return lost, "", ""
}

// hasIn reports whether a device has an address of a network.
func (e *Evidence) hasIn(at, device string, network netip.Prefix) bool {
	return slices.ContainsFunc(e.Addresses, func(a result.Address) bool {
		return a.At == at && a.Device == device && network.Contains(a.Prefix.Addr())
	})
}

// dialsEnd reports whether the address that is dialled is an end's own, not one that its host
// publishes or a Service has.
func (e *Evidence) dialsEnd() bool {
	return e.Path != "" && !catalog.ByPublishedPort(e.Path) && !catalog.ByService(e.Path)
}

// likeOthers is an address with the length that its container's host has for the same network.
func (e *Evidence) likeOthers(at string, address netip.Addr) netip.Prefix {
	for _, a := range e.Addresses {
		if a.At == hostOf(at) && a.Device != "lo" && a.Prefix.Contains(address) && a.Prefix.Bits() < address.BitLen() {
			return netip.PrefixFrom(address, a.Prefix.Bits())
		}
	}
	return netip.PrefixFrom(address, address.BitLen())
}
