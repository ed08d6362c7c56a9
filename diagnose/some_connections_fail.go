package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"tare/result"
)

// someConnectionsFail finds a path on which some connections pass and others do not: they are led
// elsewhere, or what opens them is out of source ports.
func someConnectionsFail() Rule {
	return Rule{
		ID: "some-connections-fail", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			of := e.small("tcp", 0)
			at := slices.IndexFunc(e.Trials, func(t result.Trial) bool { return t.Workload == "tcp_rr" && t.Error != "" && t.IP == 0 })
			if at < 0 || e.Trials[at].Size > smallest {
				return nil
			}
			t := e.Trials[at]
			if f, short := e.shortOfPorts(t); short {
				return []result.Finding{f}
			}
			if of.passed == 0 || of.failed < 2 {
				return nil
			}
			f := result.Finding{
				Cause:      fmt.Sprintf("%d of %d connections from %s to %s fail", of.failed, of.passed+of.failed, e.Client, e.Dial),
				Evidence:   []result.Evidence{errorOf(t), seen("connections that passed", of.passed, "", trials)},
				Confidence: 0.6,
			}
			host, command, comment := e.look(t)
			f.Fix = e.run(host, command) + "  # " + comment
			e.led(&f)
			return []result.Finding{f}
		},
	}
}

// led adds where the connections that fail are led: to an address that is no end of the path and
// does not answer ARP.
func (e *Evidence) led(f *result.Finding) {
	for _, at := range e.Places {
		for _, name := range e.unanswered(at) {
			address, device, _ := strings.Cut(name, " dev ")
			if e.owner(address) != "" {
				continue
			}
			f.Cause += fmt.Sprintf(": %s leads them to %s, which does not answer on %s", at, address, device)
			f.Evidence = append(f.Evidence, seen(name, e.word(at, neighbours, name), at, neighbours))
			f.Fix = e.run(at, asOne("nft -a list ruleset | grep -n "+address+"; ip route | grep "+address)) +
				"  # delete the rule or the next hop that leads to " + address + ", or start what has that address"
			f.Confidence = 0.92
			return
		}
	}
}

// fewPorts is the number of source ports below which a range is named as the cause.
const fewPorts = 1024

// shortOfPorts is the finding that the client, or a relay on the server's host, has no source port
// left.
func (e *Evidence) shortOfPorts(t result.Trial) (f result.Finding, short bool) {
	of, at := e.small("tcp", 0), e.Client
	what := fmt.Sprintf("%s has no free source port to %s", e.Client, e.Dial)
	text, ports := e.sourcePorts(at)
	if t.Failure() != result.NoSourcePort {
		at = hostOf(e.Server)
		what = fmt.Sprintf("the relay on %s has no free source port to %s", at, e.Server)
		text, ports = e.sourcePorts(at)
		if t.Failure() != result.Reset || e.owner(e.Dial) != at || ports == 0 || ports >= fewPorts {
			return result.Finding{}, false
		}
	}
	f = result.Finding{
		Cause:      fmt.Sprintf("%s: %d of %d connections fail", what, of.failed, of.passed+of.failed),
		Evidence:   []result.Evidence{errorOf(t)},
		Fix:        "or keep connections open, or net.ipv4.tcp_tw_reuse=1",
		Remedy:     remedy(at, `sysctl -w net.ipv4.ip_local_port_range="1024 65535"`),
		Confidence: 0.95,
	}
	if ports > 0 {
		f.Cause += fmt.Sprintf("; net.ipv4.ip_local_port_range %s has %d", text, ports)
		f.Evidence = append(f.Evidence, seen("ipv4/ip_local_port_range", text, at, sysctls))
	}
	return f, true
}

// sourcePorts is the range of the ports from which a place connects; 0: it is not known.
func (e *Evidence) sourcePorts(at string) (text string, count int) {
	text = e.word(at, sysctls, "ipv4/ip_local_port_range")
	var first, last int
	if n, err := fmt.Sscan(text, &first, &last); n != 2 || err != nil {
		return "", 0
	}
	return text, last - first + 1
}
