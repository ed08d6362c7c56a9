package site

import (
	"fmt"
	"net/netip"
	"slices"

	"tare/catalog"
	"tare/network"
	"tare/probe"
	"tare/result"
)

// encapsulating are the kinds of devices that carry packets inside others, as the kernel calls
// them (rtnl_link_ops.kind).
var encapsulating = []string{"vxlan", "geneve", "gre", "gretap", "ipip", "sit", "vti", "wireguard"}

// datapath says by which device of h1 packets to a container of h2 leave it, by its routes. They
// say nothing of programs that take packets past them, or of encryption below a device. Empty: the
// routes are not seen.
func datapath(paths map[string]network.Ends, seen map[string]probe.Inventory) string {
	ends, there := paths[catalog.CrossHost]
	host, known := seen["h1"]
	if !there || !known {
		return ""
	}
	device := deviceTo(host.Routes, ends.Dial)
	link, found := result.First(host.Links, func(l probe.Link) bool { return l.Name == device })
	if !found {
		return ""
	}
	how := "as they are"
	if slices.Contains(encapsulating, link.Kind) {
		how = "inside other packets (" + link.Kind + ")"
	}
	return fmt.Sprintf("by the routes of h1, packets to %s leave it through %s %s, with an MTU of %d", ends.Server, device, how, link.MTU)
}

// deviceTo is where the most specific route to an address leads; empty: there is none.
func deviceTo(routes []result.Route, to netip.Addr) string {
	device, bits := "", -1
	for _, r := range routes {
		if r.To.Contains(to) && r.To.Bits() > bits { // of the same, the preferred one is first
			device, bits = r.Device, r.To.Bits()
		}
	}
	return device
}
