package diagnose

import (
	"fmt"
	"strings"

	"tare/result"
)

// The ports at which the relay of a service mesh takes a container's connections, as Istio has
// them: what it sends, what comes to it, and the tunnels of Istio's ambient mode.
const (
	meshOutbound = 15001
	meshInbound  = 15006
	meshTunnels  = 15008
)

// meshed is the finding of ends whose TCP connections the relays of a service mesh carry.
func (e *Evidence) meshed(m result.Metric, places []string) result.Finding {
	f := result.Finding{
		Cause: fmt.Sprintf("relays of a service mesh take the connections at %s: of one they make three, copy each byte at both ends "+
			"between two sockets, and encrypt it between the relays", strings.Join(places, " and ")),
		Evidence: e.tolled(m),
		Fix: `traffic.sidecar.istio.io/excludeOutboundPorts: "PORT"  # in the client's pod, excludeInboundPorts in the server's: ` +
			"these connections pass the relays by, in plain: let the application encrypt them where that matters",
		Confidence: 0.9,
	}
	for _, at := range places {
		ports := fmt.Sprintf("%d, %d", meshOutbound, meshInbound)
		if e.listens(at, meshTunnels) {
			ports = fmt.Sprintf("%s, %d", ports, meshTunnels)
			f.Fix = "kubectl label pod POD istio.io/dataplane-mode=none  # at both ends: their connections pass the relays by, " +
				"in plain: let the application encrypt them where that matters"
		}
		f.Evidence = append(f.Evidence,
			seen("ports of a mesh that a process listens at", ports, at, listening),
			seen("lo.rx_bytes", e.counted(at, linkStats, "lo.rx_bytes"), at, linkStats),
			seen("bytes of all other devices", e.passed(at), at, linkStats))
	}
	return e.adding(m, f)
}

// meshes are the ends whose connections a relay in their namespace carries: it listens where
// a mesh redirects connections to, and about as much crosses the loopback, between it and the
// application, as crosses the other devices. UDP goes past such relays.
func (e *Evidence) meshes() []string {
	var places []string
	for _, at := range []string{e.Client, e.Server} {
		local := e.counted(at, linkStats, "lo.rx_bytes")
		if e.listens(at, meshOutbound) && e.listens(at, meshInbound) && local > 0 && local >= relayedShare*e.passed(at) {
			places = result.AddOnce(places, at)
		}
	}
	return places
}

// passed is how many bytes the devices of a place received and sent, but for its loopback.
func (e *Evidence) passed(at string) float64 {
	var sum float64
	for _, device := range e.names(at, links, ".mac") {
		if device != "lo" {
			sum += e.counted(at, linkStats, device+".rx_bytes") + e.counted(at, linkStats, device+".tx_bytes")
		}
	}
	return sum
}

// listens reports whether a process of a place listens at a port.
func (e *Evidence) listens(at string, port int) bool {
	for _, name := range e.names(at, listening, ".backlog") {
		if strings.HasSuffix(name, fmt.Sprintf(":%d", port)) {
			return true
		}
	}
	return false
}
