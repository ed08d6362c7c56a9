package diagnose

import (
	"fmt"
	"strings"

	"tare/result"
)

// wrongMAC finds a neighbour entry, or one of a forwarding database, with another
// link address than the neighbour has.
func wrongMAC() Rule {
	return Rule{
		ID: "wrong-mac", Grave: true, Dead: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			return append(e.wrongNeighbours(at), e.pinnedPorts(at)...)
		}),
	}
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
		if theirs == "" || e.hasMAC(owner, mac) || at != hostOf(at) && e.hasMAC(hostOf(at), mac) {
			continue
		}
		found = append(found, result.Finding{
			Cause: fmt.Sprintf("%s sends packets for %s (%s) to %s; the device there has %s", at, address, owner, mac, theirs),
			Evidence: []result.Evidence{
				seen(name, mac+" "+state, at, neighbours), seen(e.deviceOf(owner, address)+".mac", theirs, owner, links),
				seen("rx_otherhost_dropped of all devices", e.otherHost(), "", linkStats), e.trialFailed(),
			},
			Remedy:     remedy(at, "ip neighbour del "+address+" dev "+device),
			Confidence: 0.96,
		})
	}
	return found
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
			if end == at || mac == "" || pinned != mac || !static || e.word(at, links, port+".mac") == mac {
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
