package diagnose

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"tare/result"
)

// portsUsedUp finds a place that has no port left for a new connection to an end: the client, or a
// relay. Each connection that ended keeps its port for a minute (TIME-WAIT).
func portsUsedUp() Rule {
	return Rule{ID: "ports-used-up", Grave: true, Match: (*Evidence).outOfPorts}
}

const (
	portRange = "ipv4/ip_local_port_range"
	// fewPorts is the number of source ports below which a relay that closes connections is out of them.
	fewPorts = 1024
)

// outOfPorts are the findings of places without a source port.
func (e *Evidence) outOfPorts() []result.Finding {
	var found []result.Finding
	for _, at := range e.Places {
		text, most := e.sourcePorts(at)
		to, used := e.busiestEnd(at)
		t, short := e.shortOfPorts(at, most)
		if most == 0 && !short || used < most && !short {
			continue
		}
		f := result.Finding{
			Cause:      fmt.Sprintf("%s has no free source port to %s", at, to),
			Remedy:     remedy(at, `sysctl -w net.ipv4.ip_local_port_range="1024 65535"`),
			Fix:        "or keep connections open, or net.ipv4.tcp_tw_reuse=1",
			Confidence: 0.95,
		}
		if most > 0 {
			// Those that are used from before the range was narrowed are none of it.
			f.Cause += fmt.Sprintf(": %d of %d are in use, by connections or for a minute after them", min(used, most), most)
			f.Evidence = append(f.Evidence, seen("ports in use to "+to, used, at, connections), seen(portRange, text, at, sysctls))
		}
		if of := e.small("tcp", 0); short {
			f.Cause += fmt.Sprintf("; %d of %d connections fail", of.failed, of.passed+of.failed)
			f.Evidence = append(f.Evidence, errorOf(t))
		}
		found = append(found, f)
	}
	return found
}

// shortOfPorts is the trial whose error shows that a place is out of its source ports, if it does:
// the client's own, or that a relay closed the connection which has few.
func (e *Evidence) shortOfPorts(at string, ports int) (result.Trial, bool) {
	relays := at == hostOf(e.Server) && at != e.Server && e.owner(e.Dial) == at && ports > 0 && ports < fewPorts
	return result.First(e.Trials, func(t result.Trial) bool {
		return at == e.Client && t.Failure() == result.NoSourcePort || relays && t.Workload == "tcp_rr" && t.Failure() == result.Reset
	})
}

// busiestEnd is that of the path to which a place uses the most ports.
func (e *Evidence) busiestEnd(at string) (to string, ports int) {
	to = e.Dial
	if at != e.Client {
		to = e.Server
	}
	for _, name := range keys(e.state(at, connections)) {
		addr, _, err := net.SplitHostPort(name)
		used := int(e.number(at, connections, name))
		if err == nil && used > ports && (e.owner(addr) != "" || addr == e.Dial) {
			to, ports = name, used
		}
	}
	return to, ports
}

// sourcePorts is the range of the ports from which a place connects, and how many of them are not
// reserved; 0: it is not known.
func (e *Evidence) sourcePorts(at string) (text string, count int) {
	text = e.word(at, sysctls, portRange)
	var first, last int
	if n, err := fmt.Sscan(text, &first, &last); n != 2 || err != nil {
		return "", 0
	}
	count = last - first + 1
	reserved := e.word(at, sysctls, "ipv4/ip_local_reserved_ports")
	for _, span := range strings.FieldsFunc(reserved, func(r rune) bool { return r == ',' }) {
		from, to, isRange := strings.Cut(span, "-")
		if !isRange {
			to = from
		}
		a, errFrom := strconv.Atoi(from)
		b, errTo := strconv.Atoi(to)
		if errFrom == nil && errTo == nil {
			count -= max(0, min(b, last)-max(a, first)+1)
		}
	}
	if reserved != "" {
		text += ", without " + reserved
	}
	return text, max(count, 0)
}
