package diagnose

import (
	"fmt"
	"strings"

	"tare/result"
)

// userlandProxy knows a published port behind a process that copies each byte.
func userlandProxy() Rule {
	return Rule{
		ID: "userland-proxy", Doc: doc("userland-proxy"),
		Cause: "a process relays the published port: each byte is copied to it and back",
		Fix:   `"userland-proxy": false in Docker's daemon.json`,
		Match: func(e *Evidence) []result.Finding {
			m, slow := slower(e.Cell)
			if !slow || !e.relayed() {
				return nil
			}
			host := hostOf(e.Server)
			fix := e.run(host, "nft list ruleset") + "  # the rules that publish the port are missing: DNAT passes the process by"
			if strings.HasPrefix(e.Network, "docker") {
				fix = `echo '{"userland-proxy": false}' > /etc/docker/daemon.json && systemctl restart docker`
			}
			return []result.Finding{{
				Cause: fmt.Sprintf("a process in %s relays the published port: two connections for one, and each byte copied twice more", host),
				Evidence: append(e.tolled(m),
					seen("segments and datagrams that the host itself took", e.taken(host), host, snmp),
					seen("segments and datagrams that the container took", e.taken(e.Server), e.Server, snmp)),
				Fix: fix, Confidence: 0.9, Share: e.added(m),
			}}
		},
	}
}

// relayedShare is the share of what a container receives from which its host,
// which took as much itself, passed it on by a process: one that forwards takes
// nothing.
const relayedShare = 0.3

// relayed tells whether a process of the server's host relays a published port.
func (e *Evidence) relayed() bool {
	host := hostOf(e.Server)
	return published(e.Path) && host != e.Server && e.taken(host) > 0 && e.taken(host) >= relayedShare*e.taken(e.Server)
}

// taken is how many segments and datagrams came to sockets of a place.
func (e *Evidence) taken(at string) float64 {
	return e.counted(at, snmp, "Tcp.InSegs") + e.counted(at, snmp, "Udp.InDatagrams")
}
