package diagnose

import (
	"cmp"
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
				if state := e.word(at, links, port+".state"); state != "" && e.up(at, port) && e.up(at, bridge) {
					found = append(found, e.stoppedPort(at, port, bridge, state))
				}
				if e.state(at, links)[port+".isolated"] == true {
					isolated = append(isolated, port)
				}
			}
			found = append(found, e.mutePorts(at)...)
			for _, tunnel := range e.vxlans(at) {
				if e.state(at, links)[tunnel+".bcast_flood"] == false && len(e.unanswered(e.Client))+len(e.unanswered(e.Server)) > 0 {
					found = append(found, e.unasked(at, tunnel, "the other host"))
				}
			}
			return append(append(found, e.isolated(at, isolated)...), e.unbridged(at)...)
		}),
	}
}

// stoppedPort is the finding of a port that does not forward. Where a bridge runs the spanning tree
// protocol nobody else may set the state of a port.
func (e *Evidence) stoppedPort(at, port, bridge, state string) result.Finding {
	f := result.Finding{
		Cause:      fmt.Sprintf("port %s of %s in %s is %s: it passes nothing", port, bridge, at, state),
		Evidence:   []result.Evidence{seen(port+".state", state, at, "bridge -d link"), e.trialFailed()},
		Remedy:     remedy(at, "bridge link set dev "+port+" state 3"),
		Confidence: 0.97,
	}
	if e.state(at, links)[bridge+".stp"] != true {
		return f
	}
	f.Cause += ", by the spanning tree protocol"
	f.Evidence = append(f.Evidence, seen(bridge+".stp", true, at, links))
	f.Remedy, f.Fix = remedy(at, "ip link set dev "+bridge+" type bridge stp_state 0 && bridge link set dev "+port+" state 3"), "or wait for forward_delay twice, if other switches need the protocol"
	if state == "blocking" {
		f.Remedy, f.Fix = nil, e.run(at, "bridge -d link show dev "+port)+"  # it closes a loop: find the other way, or give this port a lower cost"
	}
	return f
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
		mac := e.word(end, links, "eth0.mac")
		if port != "" && settings[port+".locked"] == true {
			if _, known := e.state(at, fdb)[mac+" dev "+port]; !known {
				found = append(found, result.Finding{
					Cause:      fmt.Sprintf("port %s of %s is locked: it takes packets only from whom the bridge already knows behind it, and that is not %s (%s)", port, at, mac, end),
					Evidence:   []result.Evidence{seen(port+".locked", true, at, "bridge -d link"), e.trialFailed()},
					Remedy:     remedy(at, "bridge link set dev "+port+" locked off learning on"),
					Confidence: 0.97,
				})
				continue
			}
		}
		if port != "" && settings[port+".bcast_flood"] == false && len(e.unanswered(e.Client))+len(e.unanswered(e.Server)) > 0 {
			found = append(found, e.unasked(at, port, end))
			continue
		}
		if port == "" || settings[port+".flood"] != false {
			continue
		}
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

// unasked is the finding of a port behind which nobody is asked for an address.
func (e *Evidence) unasked(at, port, whom string) result.Finding {
	return result.Finding{
		Cause:      fmt.Sprintf("port %s of %s is sent no broadcasts: %s is asked for addresses in vain", port, at, whom),
		Evidence:   []result.Evidence{seen(port+".bcast_flood", false, at, "bridge -d link"), e.trialFailed()},
		Remedy:     remedy(at, "bridge link set dev "+port+" bcast_flood on"),
		Confidence: 0.96,
	}
}

// unbridged are the findings of an end, or of a tunnel, whose host has its device in no bridge, or
// in another than the one by which its network is reached.
func (e *Evidence) unbridged(at string) (found []result.Finding) {
	report := func(device, whose, bridge string) {
		where := "is in no bridge"
		if master := e.word(at, links, device+".master"); master != "" {
			where = "is in " + master
		}
		found = append(found, result.Finding{
			Cause:      fmt.Sprintf("%s of %s, %s, %s: the network's is %s", device, at, whose, where, bridge),
			Evidence:   []result.Evidence{seen(device+".master", cmp.Or(e.word(at, links, device+".master"), "none"), at, links), e.trialFailed()},
			Remedy:     remedy(at, fmt.Sprintf("ip link set dev %s master %s", device, bridge)),
			Confidence: 0.97,
		})
	}
	for _, end := range []string{e.Client, e.Server} {
		port := e.portOf(at, end)
		master := e.word(at, links, port+".master")
		bridge := e.deviceIn(at, e.prefixOn(end, "eth0").Masked())
		if port != "" && master != bridge && bridge != port && e.addressOn(at, port) == "" && e.word(at, links, bridge+".kind") == "bridge" && e.addressOn(at, master) == "" {
			report(port, "the device of "+end, bridge)
		}
	}
	for _, other := range []string{hostOf(e.Client), hostOf(e.Server)} {
		own, theirs := e.vxlans(at), e.vxlans(other)
		if at == other || at != hostOf(at) || len(own) == 0 || len(theirs) == 0 || e.word(other, links, theirs[0]+".master") == "" {
			continue
		}
		master := e.word(at, links, e.portOf(at, e.endOn(at))+".master")
		if e.word(at, links, own[0]+".master") == "" && e.addressOn(at, own[0]) == "" && master != "" {
			report(own[0], "the device of the tunnel", master)
		}
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
