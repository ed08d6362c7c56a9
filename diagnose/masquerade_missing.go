package diagnose

import (
	"fmt"
	"strings"

	"tare/firewall"
	"tare/result"
)

// unmasked is the finding that packets leave the client's host with a container's own address, to which
// the other has no route, while the other gives those of its containers one of its addresses.
func (e *Evidence) unmasked(t result.Trial) (f result.Finding, lacks bool) {
	near, far := hostOf(e.Client), hostOf(e.Server)
	client, server := e.addressOn(e.Client, "eth0"), e.addressOn(e.Server, "eth0")
	family := "ip"
	if strings.Contains(client, ":") {
		family = "ip6"
	}
	if near == far || near == e.Client || far == e.Server || client == "" || server == "" || e.hides(near, e.packet(t, near, "postrouting", false)) {
		return f, false
	}
	if _, routed := e.route(far, client); routed {
		return f, false
	}
	theirs := firewall.Packet{
		"layer": firewall.Of("ip"), "meta nfproto": firewall.Of(map[string]string{"ip": "ipv4", "ip6": "ipv6"}[family]), "meta l4proto": firewall.Of(transport(t)),
		family + " saddr": firewall.Of(server), family + " daddr": firewall.Of(client), "oifname": firewall.Of("eth0"),
	}
	if !e.hides(far, theirs) {
		return f, false
	}
	network := e.prefixOn(e.Client, "eth0").Masked().String()
	bridge := e.overPort(near, e.portOf(near, e.Client))
	chain := family + " tare postrouting"
	return result.Finding{
		Cause: fmt.Sprintf("packets leave %s with the address of %s (%s), to which %s has no route: no rule of %[1]s gives them its own, as those of %[4]s do with what its containers send",
			near, e.Client, client, far),
		Evidence: []result.Evidence{seen("masquerade of "+network, "none", near, rules), seen("route to "+client, "none", far, result.SourceRoutes), errorOf(t)},
		Remedy: remedy(near, fmt.Sprintf("nft 'add table %s tare; add chain %s { type nat hook postrouting priority srcnat; }; add rule %[2]s %[1]s saddr %[3]s oifname != %[4]q masquerade'",
			family, chain, network, bridge)),
		Confidence: 0.95,
	}, true
}

// hides reports whether a host gives packets that leave it, perhaps, another source.
func (e *Evidence) hides(at string, p firewall.Packet) bool {
	_, found := result.First(firewall.Walk(e.chains(at), p, "postrouting", nil), func(s firewall.Step) bool {
		return s.After == nil && (strings.HasPrefix(s.Act, "masquerade") || strings.HasPrefix(s.Act, "snat"))
	})
	return found
}
