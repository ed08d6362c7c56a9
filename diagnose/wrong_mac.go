package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"tare/result"
)

// wrongMAC finds a neighbour entry, or one of a forwarding database, with another
// link address than the neighbour has.
func wrongMAC() Rule {
	return Rule{
		ID: "wrong-mac", Grave: true, Dead: true,
		Match: func(e *Evidence) []result.Finding {
			var found, pinned []result.Finding
			for _, at := range e.Places {
				found = append(append(found, e.wrongNeighbours(at)...), e.wrongGateways(at)...)
				pinned = append(pinned, e.pinnedPorts(at)...)
			}
			found = append(sourced(found), pinned...)
			if f, same := e.sameMAC(); same {
				found = append(found, f)
			}
			return found
		},
	}
}

// sourced joins the findings of one address to that of a permanent entry, if there is one:
// a tunnel's device answers by it, and others have learned from that.
func sourced(found []result.Finding) (joined []result.Finding) {
	address := func(f result.Finding) string { return strings.Fields(f.Evidence[0].Name)[0] }
	for _, f := range found {
		source := slices.IndexFunc(found, func(g result.Finding) bool { return address(g) == address(f) && g.Confidence > f.Confidence })
		if source < 0 {
			joined = append(joined, f)
			continue
		}
		found[source].Remedy.Then = append(found[source].Remedy.Then, f.Remedy.Steps()...)
	}
	return joined
}

// wrongNeighbours are the findings of a place's neighbour entries for addresses of
// other places on the path whose devices have other link addresses.
func (e *Evidence) wrongNeighbours(at string) []result.Finding {
	var found []result.Finding
	for _, name := range keys(e.state(at, neighbours)) {
		address, device, _ := strings.Cut(name, " dev ")
		mac, state, has := strings.Cut(e.word(at, neighbours, name), " ")
		owner := e.owner(address)
		if owner == "" || owner == at || !has {
			continue
		}
		theirs := e.word(owner, links, e.deviceOf(owner, address)+".mac")
		right := func(place string) bool { return e.deviceOf(place, address) != "" && e.hasMAC(place, mac) } // several may have the address
		if theirs == "" || slices.ContainsFunc(e.Places, right) || at != hostOf(at) && e.hasMAC(hostOf(at), mac) {
			continue
		}
		confidence := 0.96
		if state == "permanent" { // what others learned may come from it
			confidence = 0.97
		}
		f := result.Finding{
			Cause: fmt.Sprintf("%s sends packets for %s (%s) to %s; the device there has %s", at, address, owner, mac, theirs),
			Evidence: []result.Evidence{
				seen(name, mac+" "+state, at, neighbours), seen(e.deviceOf(owner, address)+".mac", theirs, owner, links),
				seen("rx_otherhost_dropped of all devices", e.otherHost(), "", linkStats), e.trialFailed(),
			},
			Remedy:     e.back(at, owner, remedy(at, e.corrected(at, name, owner, theirs))),
			Confidence: confidence,
		}
		if setting := device + ".noarp"; state == "noarp" && e.state(at, links)[setting] == true {
			f.Cause += fmt.Sprintf(": %s of %s is set to ask no neighbour", device, at)
			f.Evidence = append(f.Evidence, seen(setting, true, at, links))
			f.Remedy = remedy(at, "ip link set dev "+device+" arp on")
		} else if state != "permanent" {
			e.twice(&f, hostOf(owner), owner, address, mac)
		}
		found = append(found, f)
	}
	return found
}

// twice completes a finding where the MAC address that was learned is that of another
// container of the owner's host: both have the IP address.
func (e *Evidence) twice(f *result.Finding, host, owner, address, mac string) {
	for _, name := range keys(e.state(host, fdb)) {
		known, port, _ := strings.Cut(name, " dev ")
		other, container := strings.CutPrefix(port, "veth-")
		if known != mac || e.word(host, fdb, name) == "permanent" || !container || e.Lab == "" || host+"/"+other == owner {
			continue
		}
		a, _ := netip.ParseAddr(address)
		f.Cause += fmt.Sprintf(": the device behind %s of %s has the same address", port, host)
		f.Evidence = append(f.Evidence, seen(name, e.word(host, fdb, name), host, fdb))
		first := f.Remedy.Steps()
		f.Remedy = remedy(host+"/"+other, fmt.Sprintf("%s addr del %s dev eth0", ipOf(a), e.prefixOf(owner, a)))
		f.Remedy.Then = first
		if e.refused(owner, a) {
			f.Remedy.Then = append(f.Remedy.Then, result.Step{At: owner, Command: e.again(owner, a)})
		}
		return
	}
}

// corrected is the command that mends a neighbour entry. What the kernel learned is
// learned anew; a permanent entry is replaced, since a tunnel's device may answer by it
// and ask nobody, and so is what the tunnel's forwarding database knows.
func (e *Evidence) corrected(at, name, owner, mac string) string {
	address, device, _ := strings.Cut(name, " dev ")
	old, state, _ := strings.Cut(e.word(at, neighbours, name), " ")
	if state != "permanent" || e.number(at, links, device+".vni") == 0 {
		return ipFor(address) + " neighbour del " + address + " dev " + device
	}
	return e.pinned(at, address, device, owner, mac, old)
}

// pinned is the command that makes a tunnel's device know an address on another host, by
// the MAC address there; old is the one that was known for it.
func (e *Evidence) pinned(at, address, device, owner, mac, old string) string {
	command := fmt.Sprintf("%s neighbour replace %s lladdr %s dev %s nud permanent", ipFor(address), address, mac, device)
	if e.ofHost(hostOf(owner), e.tunnelEnds(at, device, mac)) {
		return command
	}
	hosts := e.tunnelEnds(at, device, old)
	if len(hosts) == 0 {
		hosts = []string{e.addressOn(hostOf(owner), "eth0")}
	}
	return command + fmt.Sprintf(" && bridge fdb append %s dev %s dst %s", mac, device, hosts[0])
}

// ipFor is the command for the version of IP of an address.
func ipFor(address string) string {
	a, _ := netip.ParseAddr(address)
	return ipOf(a)
}

// back completes a remedy by the way back: a tunnel's device whose MAC address was changed
// has forgotten its neighbours.
func (e *Evidence) back(at, owner string, r *result.Remedy) *result.Remedy {
	own, theirs := e.vxlans(at), e.vxlans(owner)
	if len(own) == 0 || len(theirs) == 0 || e.addressOn(at, own[0]) == "" {
		return r
	}
	address := e.addressOn(at, own[0])
	if state := e.word(owner, neighbours, address+" dev "+theirs[0]); state == "" || slices.Contains(e.unanswered(owner), address+" dev "+theirs[0]) {
		r.Then = append(r.Then, result.Step{At: owner, Command: e.pinned(owner, address, theirs[0], at, e.word(at, links, own[0]+".mac"), "")})
	}
	return r
}

// hasMAC reports whether a device of a place has a link address. A host answers ARP
// for all its addresses with that of the device on which the request arrived, and
// with proxy_arp also for addresses that it forwards to (arp_ignore, proxy_arp: the
// kernel's ip-sysctl).
func (e *Evidence) hasMAC(at, mac string) bool {
	for name, value := range e.state(at, links) {
		if strings.HasSuffix(name, ".mac") && value == mac {
			return true
		}
	}
	return false
}

// otherHost is how many packets arrived at devices with another link address.
func (e *Evidence) otherHost() float64 {
	var sum float64
	for _, r := range e.Readings {
		for name, n := range r.Counts {
			if r.Source == linkStats && strings.HasSuffix(name, ".rx_otherhost_dropped") {
				sum += n
			}
		}
	}
	return sum
}

// sameMAC is the finding of two ends of one link with the same link address: the bridge between them
// delivers to neither what is from the other.
func (e *Evidence) sameMAC() (f result.Finding, same bool) {
	mac := e.word(e.Client, links, "eth0.mac")
	address, err := netip.ParseAddr(e.addressOn(e.Server, "eth0"))
	if !e.bridged() || err != nil || mac == "" || mac != e.word(e.Server, links, "eth0.mac") || e.word(e.Server, links, "eth0.kind") == "ipvlan" {
		return f, false
	}
	bytes := address.AsSlice()
	bytes = bytes[len(bytes)-4:]
	other := fmt.Sprintf("06:42:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2], bytes[3])
	if known, _, _ := strings.Cut(e.word(e.Client, neighbours, address.String()+" dev eth0"), " "); strings.Count(known, ":") == 5 && known != mac { // what it had before
		other = known
	}
	return result.Finding{
		Cause:      fmt.Sprintf("%s and %s have the same MAC address, %s, on one link", e.Client, e.Server, mac),
		Evidence:   []result.Evidence{seen("eth0.mac", mac, e.Client, links), seen("eth0.mac", mac, e.Server, links), e.trialFailed()},
		Remedy:     remedy(e.Server, "ip link set dev eth0 address "+other),
		Fix:        "any that no other has",
		Confidence: 0.97,
	}, true
}

// pinnedPorts are the findings of static entries of a bridge for a link address of one
// of the ends that lead to a port behind which the end is not.
func (e *Evidence) pinnedPorts(at string) []result.Finding {
	var found []result.Finding
	for _, end := range []string{e.Client, e.Server} {
		mac := e.word(end, links, e.deviceOf(end, e.addressOn(end, "eth0"))+".mac")
		for _, name := range keys(e.state(at, fdb)) {
			pinned, port, _ := strings.Cut(name, " dev ")
			state := e.word(at, fdb, name)
			static := state == "permanent" || state == "noarp"
			if end == at || mac == "" || pinned != mac || !static || e.word(at, links, port+".master") == "" || e.word(at, links, port+".mac") == mac {
				continue
			}
			found = append(found, result.Finding{
				Cause:      fmt.Sprintf("the bridge of %s sends packets for %s (%s) to port %s, behind which it is not", at, end, mac, port),
				Evidence:   []result.Evidence{seen(name, state, at, fdb), e.trialFailed()},
				Remedy:     remedy(at, "bridge fdb del "+mac+" dev "+port+" master"),
				Confidence: 0.9,
			})
		}
	}
	return found
}
