package diagnose

import (
	"fmt"
	"strings"

	"tare/catalog"
	"tare/result"
)

// userlandProxy finds a process that copies each byte: to a published port, or of containers whose only device is its TAP.
func userlandProxy() Rule {
	return Rule{
		ID: "userland-proxy", Limit: mostOfRung,
		Match: func(e *Evidence) []result.Finding {
			m, slow := slower(e.Cell)
			if !slow {
				return nil
			}
			if places := e.userModes(); len(places) > 0 {
				return []result.Finding{e.userMode(m, places)}
			}
			if places := e.sandboxes(); len(places) > 0 {
				return []result.Finding{e.sandboxed(m, places)}
			}
			if !e.relayed() {
				return nil
			}
			host := hostOf(e.Server)
			fix := e.run(host, "nft list ruleset") + "  # the rules that publish the port are missing: with DNAT packets bypass the process"
			switch n, _ := catalog.FindNetwork(e.Network); {
			case catalog.Builds(e.Network) && n.Runtime == "":
				fix = "publish the port by a rule that translates its address, as the network nat does, and not by a process"
			case strings.HasPrefix(e.Network, catalog.DockerPrefix) || n.Runtime == catalog.Docker:
				fix = `systemctl restart docker  # once /etc/docker/daemon.json has "userland-proxy": false, and no "iptables": false: rules lead to the container then`
			}
			return []result.Finding{e.adding(m, result.Finding{
				Cause:    fmt.Sprintf("a process in %s relays the published port: two connections instead of one, and each byte is copied twice more", host),
				Evidence: append(e.tolled(m), e.relaying(host)...),
				Fix:      fix, Confidence: 0.9,
			})}
		},
	}
}

// relayedShare is the least share of a container's received packets that must also be
// delivered to its host for a process of the host to relay them: a host that only
// forwards receives none itself.
const relayedShare = 0.3

// relayed reports whether a process of the server's host relays a published port.
func (e *Evidence) relayed() bool {
	host := hostOf(e.Server)
	if !catalog.ByPublishedPort(e.Path) || host == e.Server {
		return false
	}
	return e.number(host, accepted, e.Path) > 0 || e.taken(host) > 0 && e.taken(host) >= relayedShare*e.taken(e.Server)
}

// relaying is what shows that a process of the host relays a published port: the host's own
// connections, where they were looked at, or what was delivered to its sockets.
func (e *Evidence) relaying(host string) []result.Evidence {
	if own := e.number(host, accepted, e.Path); own > 0 {
		return []result.Evidence{seen("connections to the published port that end at the host itself", own, host, accepted)}
	}
	return []result.Evidence{
		seen("segments and datagrams delivered to the host itself", e.taken(host), host, snmp),
		seen("segments and datagrams delivered to the container", e.taken(e.Server), e.Server, snmp),
	}
}

// copied reports whether userlandProxy names what the network itself adds.
func (e *Evidence) copied() bool {
	return e.relayed() || len(e.userModes()) > 0 || len(e.sandboxes()) > 0
}

// taken is how many segments and datagrams were delivered to sockets of a place.
func (e *Evidence) taken(at string) float64 {
	return e.counted(at, snmp, "Tcp.InSegs") + e.counted(at, snmp, "Udp.InDatagrams")
}
