package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"tare/firewall"
	"tare/result"
)

// replyBridged finds a Service that containers of its server's host can't use: a rule leads their packets
// to a port of the bridge that they came from, and the replies pass within it, by no rule that would give
// them the address that was asked.
func replyBridged() Rule {
	return Rule{
		ID: "reply-bridged", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			for _, at := range e.Places {
				for _, bridge := range e.ofKind(at, "bridge") {
					if m, is := e.turnedBack(at, bridge); is {
						found = append(found, e.bridgedBack(m, bridge))
					}
				}
			}
			return found
		},
	}
}

// turnedBack is the rule of a place that leads what comes from a bridge back into it with its source
// unchanged, while nothing looks at what passes within; false: there is none.
func (e *Evidence) turnedBack(at, bridge string) (m met, is bool) {
	if e.handsOver(at) || e.unread(rules) || len(e.portsOf(at, bridge)) < 2 {
		return m, false
	}
	for _, network := range e.networksOn(at, bridge) {
		family, kind, nobody := "ip", "ipv4", "192.0.2.1"
		if network.Addr().Is6() {
			family, kind, nobody = "ip6", "ipv6", "2001:db8::1"
		}
		p := firewall.Packet{"layer": firewall.Of("ip"), "meta nfproto": firewall.Of(kind), "iifname": firewall.Of(bridge), "ct state": firewall.Of("new")}
		into := func(address string) []firewall.Step {
			p[family+" daddr"] = firewall.Of(address)
			return slices.DeleteFunc(firewall.Walk(e.chains(at), p, "prerouting", nil), func(s firewall.Step) bool {
				to, err := netip.ParseAddr(plain(addressesOf(s.Act)[0]))
				return s.After != nil || !strings.HasPrefix(s.Act, "dnat") || err != nil || !network.Contains(to) || e.deviceOf(at, to.String()) != ""
			})
		}
		whatever := into(nobody) // publishes a port, to others than its neighbours
		asked, from := e.served(at, family), ""
		if _, failed := e.failed(); failed && hostOf(e.Client) == at && hostOf(e.Server) == at {
			asked, whatever, from = append(asked, e.Dial), nil, e.addressOn(e.Client, "eth0") // it is asked for there
		}
		for _, address := range asked {
			for _, s := range into(address) {
				m = met{s, passage{at: at, hook: "prerouting", packet: p}, 0}
				leaves := firewall.Packet{
					"layer": p["layer"], "meta nfproto": p["meta nfproto"], "oifname": firewall.Of(bridge),
					family + " saddr": e.field(from), family + " daddr": firewall.Of(plain(addressesOf(s.Act)[0])),
				}
				if !e.hides(at, leaves) && !slices.ContainsFunc(whatever, func(w firewall.Step) bool { return m.same(met{Step: w, passage: m.passage}) }) {
					return m, true
				}
			}
		}
	}
	return m, false
}

// served are the addresses by which the rules of a place ask, and that no place has: those of Services.
func (e *Evidence) served(at, family string) (all []string) {
	for _, c := range e.chains(at) {
		for _, l := range c.Listed {
			for _, m := range l.Rule.Matches {
				for _, value := range m.Values {
					if m.Key == family+" daddr" && plain(value) != "" && e.owner(value) == "" {
						all = result.AddOnce(all, value)
					}
				}
			}
		}
	}
	return all
}

// bridgedBack is the finding of such a rule.
func (e *Evidence) bridgedBack(m met, bridge string) result.Finding {
	setting := "bridge/bridge-nf-call-iptables"
	if m.packet["meta nfproto"].Values[0] == "ipv6" {
		setting = "bridge/bridge-nf-call-ip6tables"
	}
	target := addressesOf(m.Act)[0]
	command := "sysctl -w " + sysctlName(setting) + "=1"
	value := any("none: br_netfilter is not loaded")
	if is, loaded := e.state(m.at, sysctls)[setting]; loaded {
		value = is
	} else {
		command = "modprobe br_netfilter && " + command
	}
	return result.Finding{
		Cause: fmt.Sprintf("a rule of %s in %s leads what containers on %s send back to %s on it: the replies pass within the bridge, past the rules, and come from an address that nobody asked",
			m.In, m.at, bridge, target),
		Evidence: []result.Evidence{
			seen("rule of "+m.In, "handle "+m.Handle+": "+m.Rule.Brief(), m.at, m.source()), seen(setting, value, m.at, sysctls),
		},
		Remedy:     remedy(m.at, command),
		Fix:        "rules for what is forwarded then apply within bridges, too; others reach it as before",
		Confidence: 0.92,
	}
}

// portsOf are the ports of a bridge.
func (e *Evidence) portsOf(at, bridge string) (ports []string) {
	for _, device := range e.names(at, links, ".master") {
		if e.word(at, links, device+".master") == bridge {
			ports = append(ports, device)
		}
	}
	return ports
}

// networksOn are those of a device's addresses.
func (e *Evidence) networksOn(at, device string) (all []netip.Prefix) {
	for _, a := range e.Addresses {
		if a.At == at && a.Device == device && !a.Prefix.Addr().IsLinkLocalUnicast() {
			all = append(all, a.Prefix.Masked())
		}
	}
	return all
}
