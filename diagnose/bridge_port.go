package diagnose

import (
	"fmt"
	"slices"

	"tare/result"
)

// bridgePort finds a port that keeps a bridge from passing what goes through it, and a
// container's device that is in no bridge.
func bridgePort() Rule {
	return Rule{
		ID: "bridge-port", Grave: true, Dead: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			var found []result.Finding
			var isolated []string
			for _, port := range e.names(at, links, ".master") {
				bridge := e.word(at, links, port+".master")
				if state := e.word(at, links, port+".state"); state != "" && e.up(at, port) {
					found = append(found, result.Finding{
						Cause:      fmt.Sprintf("port %s of %s in %s is %s: it passes nothing", port, bridge, at, state),
						Evidence:   []result.Evidence{seen(port+".state", state, at, "bridge -d link"), e.trialFailed()},
						Remedy:     remedy(at, "bridge link set dev "+port+" state 3"),
						Confidence: 0.97,
					})
				}
				if e.state(at, links)[port+".isolated"] == true {
					isolated = append(isolated, port)
				}
			}
			found = append(found, e.mutePorts(at)...)
			return append(append(found, e.isolated(at, isolated)...), e.unbridged(at)...)
		}),
	}
}

func (e *Evidence) up(at, device string) bool { return e.state(at, links)[device+".up"] == true }

// isolated is the finding of isolated ports of a bridge, of which two lie on the path: they
// reach no port that is isolated too.
func (e *Evidence) isolated(at string, isolated []string) []result.Finding {
	var ends []string
	for _, end := range []string{e.Client, e.Server} {
		if port := e.portOf(at, end); slices.Contains(isolated, port) {
			ends = append(ends, port)
		}
	}
	if hostOf(e.Client) != hostOf(e.Server) && len(ends) == 1 {
		for _, port := range isolated {
			if port != ends[0] && slices.Contains([]string{"vxlan", "geneve", "gretap"}, e.word(at, links, port+".kind")) {
				ends = append(ends, port)
			}
		}
	}
	if len(ends) < 2 {
		return nil
	}
	slices.Sort(ends) // one finding for both directions
	return []result.Finding{{
		Cause:      fmt.Sprintf("ports %s and %s of a bridge in %s are isolated: they reach ports that are not, and not each other", ends[0], ends[1], at),
		Evidence:   []result.Evidence{seen("isolated", isolated, at, "bridge -d link"), e.trialFailed()},
		Remedy:     remedy(at, fmt.Sprintf("sh -c 'bridge link set dev %s isolated off; bridge link set dev %s isolated off'", ends[0], ends[1])),
		Confidence: 0.97,
	}}
}

// mutePorts are the findings of ports that neither learn who is behind them nor are sent
// what is for unknown addresses.
func (e *Evidence) mutePorts(at string) (found []result.Finding) {
	for _, end := range []string{e.Client, e.Server} {
		port := e.portOf(at, end)
		settings := e.state(at, links)
		if port == "" || settings[port+".flood"] != false {
			continue
		}
		mac := e.word(end, links, "eth0.mac")
		if _, known := e.state(at, fdb)[mac+" dev "+port]; known {
			continue
		}
		found = append(found, result.Finding{
			Cause:      fmt.Sprintf("port %s of %s is sent nothing for unknown addresses, and the bridge does not know %s (%s) behind it", port, at, mac, end),
			Evidence:   []result.Evidence{seen(port+".flood", false, at, "bridge -d link"), seen(port+".learning", settings[port+".learning"] != false, at, "bridge -d link"), e.trialFailed()},
			Remedy:     remedy(at, fmt.Sprintf("bridge link set dev %s flood on learning on", port)),
			Confidence: 0.95,
		})
	}
	return found
}

// unbridged are the findings of an end whose host has its device in no bridge, though it
// has one for its containers.
func (e *Evidence) unbridged(at string) (found []result.Finding) {
	for _, end := range []string{e.Client, e.Server} {
		port := e.portOf(at, end)
		if port == "" || e.word(at, links, port+".master") != "" || e.addressOn(at, port) != "" {
			continue
		}
		bridge := e.deviceIn(at, e.prefixOn(end, "eth0").Masked())
		if e.word(at, links, bridge+".kind") != "bridge" || bridge == port {
			continue
		}
		found = append(found, result.Finding{
			Cause:      fmt.Sprintf("%s of %s, the device of %s, is in no bridge: %s is reached by %s", port, at, end, end, bridge),
			Evidence:   []result.Evidence{seen(port+".master", "none", at, links), e.trialFailed()},
			Remedy:     remedy(at, fmt.Sprintf("ip link set dev %s master %s", port, bridge)),
			Confidence: 0.97,
		})
	}
	return found
}

// portOf is the device of a host whose peer is an end's; empty: it has none.
func (e *Evidence) portOf(at, end string) string {
	own, peer := e.number(end, links, "eth0.index"), e.number(end, links, "eth0.peer")
	if at != hostOf(end) || at == end || own == 0 {
		return ""
	}
	for _, device := range e.names(at, links, ".peer") {
		if e.number(at, links, device+".index") == peer && e.number(at, links, device+".peer") == own {
			return device
		}
	}
	return ""
}
