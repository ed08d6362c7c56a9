package diagnose

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"tare/firewall"
)

// deafened is the rule of a place, or of its neighbour, that drops the requests for the neighbour's
// address or the answers: of ARP, or of IPv6's neighbour discovery.
func (e *Evidence) deafened(at, owner, address string) (m met, found bool) {
	none := firewall.Of("none")
	asked := firewall.Packet{"layer": firewall.Of("arp"), "meta protocol": firewall.Of("arp"), "meta nfproto": none, "meta l4proto": none, "ip saddr": none, "ip daddr": none}
	if addr, err := netip.ParseAddr(address); err == nil && addr.Is6() {
		asked = firewall.Packet{
			"layer": firewall.Of("ip"), "meta nfproto": firewall.Of("ipv6"), "meta protocol": firewall.Of("ip6"), "meta l4proto": firewall.Of("icmpv6"),
			"ct state": firewall.Of("untracked"),
		}
	}
	bridged := maps.Clone(asked)
	bridged["layer"] = firewall.Of("bridge")
	for _, place := range slices.Compact([]string{owner, at, hostOf(at), hostOf(owner)}) {
		for _, hook := range []string{"input", "output", "bridge prerouting", "bridge forward", "bridge postrouting"} {
			asked := asked
			if within, is := strings.CutPrefix(hook, "bridge "); is {
				hook, asked = within, bridged
			}
			p := passage{at: place, hook: hook, packet: asked}
			counts := e.ruleCounts(place)
			for _, s := range firewall.Walk(e.chains(place), asked, hook, e.acted(place, counts)) {
				if s.Ends() && s.After == nil {
					return met{s, p, grown(counts, s.In, s.Handle)}, true
				}
			}
		}
	}
	return m, false
}
