package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"tare/firewall"
	"tare/result"
)

// neighbourFailed finds a neighbour on the path that does not answer ARP.
func neighbourFailed() Rule {
	return Rule{
		ID: "neighbour-failed", Grave: true, Dead: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			var found []result.Finding
			for _, name := range e.unanswered(at) {
				if e.offTheWay(at, name) {
					continue
				}
				found = append(found, e.silentNeighbour(at, name))
			}
			return found
		}),
	}
}

// unanswered are the neighbour entries of a place whose ARP requests got no answer.
func (e *Evidence) unanswered(at string) []string {
	var names []string
	for _, name := range keys(e.state(at, neighbours)) {
		state := e.word(at, neighbours, name)
		address, err := netip.ParseAddr(strings.Fields(name)[0])
		linkLocal := err == nil && address.Is6() && (address.IsLinkLocalUnicast() || address.IsMulticast())
		if !linkLocal && (strings.HasSuffix(state, "failed") || strings.HasSuffix(state, "incomplete")) {
			names = append(names, name)
		}
	}
	return names
}

// offTheWay reports whether nothing of the path leads to a neighbour that failed some time ago, perhaps long
// before: no place has its address, and no route, rule or client names it.
func (e *Evidence) offTheWay(at, name string) bool {
	address, _, _ := strings.Cut(name, " dev ")
	if !strings.HasSuffix(e.word(at, neighbours, name), "failed") || e.owner(address) != "" || address == e.Dial {
		return false
	}
	ruled := slices.ContainsFunc(e.chains(at), func(c firewall.Chain) bool {
		return slices.ContainsFunc(c.Listed, func(l firewall.Listed) bool {
			return slices.ContainsFunc(l.Rule.Acts, func(act string) bool { return slices.Contains(addressesOf(act), address) })
		})
	})
	routed := slices.ContainsFunc(e.Routes, func(r result.Route) bool {
		return r.At == at && (r.Via.String() == address || strings.Contains(r.String(), address))
	})
	return !ruled && !routed
}

// silentNeighbour is the finding of a neighbour that does not answer ARP.
func (e *Evidence) silentNeighbour(at, name string) result.Finding {
	address, device, _ := strings.Cut(name, " dev ")
	owner := e.owner(address)
	f := result.Finding{
		Cause:      fmt.Sprintf("%s gets no answer to ARP for %s on %s", at, address, device),
		Evidence:   []result.Evidence{seen(name, e.word(at, neighbours, name), at, neighbours), e.trialFailed()},
		Confidence: 0.7,
	}
	if owner == "" {
		f.Fix = e.run(at, "ip route get "+address) + "  # no place on the path has this address: find out why packets go there"
		if why, mute := e.unproxied(at, address, device); mute {
			why.Evidence = append(f.Evidence, why.Evidence...)
			why.Cause = f.Cause + why.Cause
			return why
		}
		return f
	}
	f.Cause += ", an address of " + owner
	mute := e.deviceOf(owner, address)
	setting := mute + ".noarp"
	if e.state(owner, links)[setting] == true {
		f.Cause += ", whose " + mute + " is set to answer none"
		f.Evidence = append(f.Evidence, seen(setting, true, owner, links))
		f.Remedy, f.Confidence = remedy(owner, "ip link set dev "+mute+" arp on"), 0.97
		return f
	}
	for _, scope := range slices.Compact([]string{mute, "all"}) {
		setting := "ipv4/conf/" + scope + "/arp_ignore"
		if ignores := e.number(owner, sysctls, setting); ignores > 0 {
			f.Cause += ", which is configured to ignore it"
			f.Evidence = append(f.Evidence, seen(setting, ignores, owner, sysctls))
			f.Remedy, f.Confidence = remedy(owner, "sysctl -w "+sysctlName(setting)+"=0"), 0.97
			return f
		}
	}
	if m, found := e.deafened(at, owner, address); found {
		f.Cause += fmt.Sprintf(": a rule of %s in %s drops what asks for it or answers: %s", m.In, m.at, m.Rule.Brief())
		f.Evidence = append(f.Evidence, seen("rule of "+m.In, "handle "+m.Handle+": "+m.Rule.Brief(), m.at, m.source()))
		f.Remedy, f.Confidence = m.remedy(e), 0.95
		return f
	}
	if command, right := e.narrower(at, owner, device); right != "" {
		f.Cause += ": by its own address it takes it for a neighbour, which needs a network of " + right
		f.Evidence = append(f.Evidence, seen(device+" has", e.prefixOn(at, device).String(), at, "ip address"))
		f.Remedy, f.Confidence = remedy(at, command), 0.95
		return f
	}
	if tunnel := e.tunnelFor(at, device); tunnel != "" && hostOf(at) != hostOf(owner) && !strings.HasSuffix(e.word(hostOf(at), neighbours, address+" dev "+tunnel), "permanent") {
		mac := e.word(owner, links, mute+".mac")
		f.Cause += fmt.Sprintf(": %s of %s knows its neighbours from what sets them up, asks nobody, and does not know this one", tunnel, hostOf(at))
		f.Evidence = append(f.Evidence, seen(address+" dev "+tunnel, "none", hostOf(at), neighbours))
		f.Remedy, f.Confidence = remedy(hostOf(at), e.pinned(hostOf(at), address, tunnel, owner, mac, "")), 0.94
		return f
	}
	f.Remedy = remedy(at, "ip neighbour flush dev "+device)
	f.Fix = "if it fails again, check that " + address + " is configured, up and connected to " + device
	return f
}

// tunnelFor is the tunnel's device of a host that answers ARP for the neighbours that it
// was given, on behalf of a place or for the host itself; empty: there is none.
func (e *Evidence) tunnelFor(at, device string) string {
	host := hostOf(at)
	for _, tunnel := range e.vxlans(host) {
		routed := at == host && tunnel == device
		if e.state(host, links)[tunnel+".nolearning"] == true && (routed || at != host && e.state(host, links)[tunnel+".proxy"] == true) {
			return tunnel
		}
	}
	return ""
}

// unproxied is the finding that a host would answer in place of others (proxy_arp), and
// does not for an address to which it has no route: ip-sysctl.
func (e *Evidence) unproxied(at, address, device string) (f result.Finding, mute bool) {
	host := hostOf(at)
	port := e.portOf(host, at)
	to, err := netip.ParseAddr(address)
	if err != nil || port == "" || device != "eth0" {
		return f, false
	}
	setting := "ipv4/conf/" + port + "/proxy_arp"
	if e.number(host, sysctls, setting)+e.number(host, sysctls, "ipv4/conf/all/proxy_arp") == 0 {
		if !to.Is4() || !to.IsLinkLocalUnicast() || e.word(host, links, port+".master") != "" {
			return f, false
		}
		return result.Finding{
			Cause:      fmt.Sprintf(": %s has no such address, and does not answer for others on %s (proxy_arp)", host, port),
			Evidence:   []result.Evidence{seen(setting, 0, host, sysctls)},
			Remedy:     remedy(host, e.answering(host, address, port)),
			Confidence: 0.95,
		}, true
	}
	if _, routed := e.way(host, flow{to: to, marked: true}); routed {
		return f, false
	}
	f = result.Finding{
		Cause: fmt.Sprintf(": %s answers for others on %s (proxy_arp), and only for what it has a route to: it has none to %s", host, port, address),
		Evidence: []result.Evidence{
			seen("ipv4/conf/"+port+"/proxy_arp", 1, host, sysctls), seen("route to "+address, "none", host, result.SourceRoutes),
		},
		Remedy:     remedy(host, fmt.Sprintf("ip addr add %s/32 dev %s", address, port)),
		Confidence: 0.96,
	}
	for _, other := range []string{hostOf(e.Client), hostOf(e.Server)} { // as another host has it
		if r, routed := e.route(other, address); routed && other != host && !r.Via.IsValid() {
			r.Protocol = ""
			f.Remedy = remedy(host, "ip route add "+r.String())
		}
	}
	return f, true
}

// answering is the command by which a host answers for a gateway of a container: as it does on its
// other devices.
func (e *Evidence) answering(host, address, port string) string {
	for _, a := range e.Addresses {
		if a.Prefix.Addr().String() == address && a.At == hostOf(a.At) {
			return fmt.Sprintf("ip addr add %s dev %s", a.Prefix, port)
		}
	}
	return "sysctl -w " + sysctlName("ipv4/conf/"+port+"/proxy_arp") + "=1"
}

// narrower is the command that gives a place the length of prefix that the owner of an
// address has, where its own is shorter and it would send to the owner's host by a
// gateway; empty: it is not too short.
func (e *Evidence) narrower(at, owner, device string) (command, right string) {
	own, theirs := e.prefixOn(at, device), e.prefixOn(owner, "eth0")
	if !own.IsValid() || own.Bits() >= theirs.Bits() || !own.Contains(theirs.Addr()) || hostOf(at) == hostOf(owner) || theirs.Bits() == theirs.Addr().BitLen() {
		return "", ""
	}
	narrow := netip.PrefixFrom(own.Addr(), theirs.Bits())
	if narrow.Masked() == theirs.Masked() {
		return "", ""
	}
	family := ipOf(own.Addr())
	if own.Addr().Is6() { // IPv6 takes an address once, whatever its length
		return fmt.Sprintf("%s addr del %s dev %s && %s addr add %s dev %s nodad", family, own, device, family, narrow, device), narrow.Masked().String()
	}
	return fmt.Sprintf("%s addr add %s dev %s && %s addr del %s dev %s", family, narrow, device, family, own, device), narrow.Masked().String()
}
