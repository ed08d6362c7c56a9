package diagnose

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"tare/result"
)

// smallSegments is the share of what the path's MTU leaves for a segment's data below which
// something else made segments small.
const smallSegments = 0.9

// smallMSS finds segments that are smaller than the path allows: a rule or a route lowers the
// maximum segment size (MSS) that ends announce. More packets carry the same data.
func smallMSS() Rule {
	return Rule{
		ID: "small-mss",
		Match: func(e *Evidence) []result.Finding {
			mss, mtu := e.ofStream("mss"), e.ofStream("path_mtu")
			most := mtu - segmentHeaders
			if strings.Contains(e.Dial, ":") {
				most -= ipv6Longer
			}
			if mss == 0 || mtu == 0 || mss >= smallSegments*most {
				return nil
			}
			f := result.Finding{
				Cause:      fmt.Sprintf("segments from %s to %s have %.0f bytes of data; the MTU of %.0f has room for %.0f", e.Client, e.Server, mss, mtu, most),
				Evidence:   []result.Evidence{{Name: "mss", Value: mss, Source: "TCP_INFO"}, {Name: "path_mtu", Value: mtu, Source: "TCP_INFO"}},
				Fix:        e.run(hostOf(e.Server), "nft list ruleset") + "  # a rule that sets maxseg (TCPMSS), or a route of " + e.Server + " with advmss: ip route",
				Confidence: 0.85,
			}
			e.lowersMSS(&f)
			return []result.Finding{f}
		},
	}
}

// ipv6Longer is by how many bytes a header of IPv6 is longer than one of IPv4.
const ipv6Longer = 20

// ofStream is what TCP_INFO says of the stream, of the trials or of the cell; 0: nothing.
func (e *Evidence) ofStream(counter string) float64 {
	if e.Cell != nil {
		return e.mean(counter)
	}
	t, _ := result.First(e.Trials, func(t result.Trial) bool { return t.Workload == "tcp_stream" && t.Error == "" })
	return t.Counters[counter]
}

// windows is how many full packets a receive buffer needs so that a segment may fill one: half of it is
// the window, and a segment no more than half of that (tcp_bound_to_half_wnd).
const windows = 4

// The receive buffer, in bytes, that a connection begins with where nobody chose another, and that it
// may grow to (Linux 4.20 to 6.17, net/ipv4/tcp.c).
const (
	usualWindow = 131072
	usualMost   = 6 << 20
)

// lowersMSS adds to a finding what lowers the MSS, if it is known: a rule, or the sender's own
// probing for the MTU.
func (e *Evidence) lowersMSS(f *result.Finding) {
	const probing = "ipv4/tcp_mtu_probing"
	if e.number(e.Client, sysctls, probing) == 2 {
		f.Cause += ": " + e.Client + " begins with small ones and looks for the path's MTU"
		f.Evidence = append(f.Evidence, seen(probing, 2, e.Client, sysctls))
		f.Remedy, f.Fix, f.Confidence = remedy(e.Client, "sysctl -w "+sysctlName(probing)+"=1"), "", 0.92
	}
	const window = "ipv4/tcp_rmem"
	if limits := strings.Fields(e.word(e.Server, sysctls, window)); len(limits) == 3 {
		if initial, err := strconv.Atoi(limits[1]); err == nil && float64(initial) < windows*e.ofStream("path_mtu") {
			f.Cause += fmt.Sprintf(": the receive buffer of %s begins with %d bytes, and a segment is at most half of the window", e.Server, initial)
			f.Evidence = append(f.Evidence, seen(window, e.word(e.Server, sysctls, window), e.Server, sysctls))
			if most, err := strconv.Atoi(limits[2]); err == nil && most < usualWindow {
				limits[2] = strconv.Itoa(usualMost)
			}
			f.Remedy, f.Fix, f.Confidence = remedy(e.Server, fmt.Sprintf("sysctl -w %s='%s %d %s'", sysctlName(window), limits[0], usualWindow, limits[2])), "", 0.92
			return
		}
	}
	for _, ends := range [][2]string{{e.Client, e.Server}, {e.Server, e.Client}} {
		to, _ := netip.ParseAddr(e.addressOn(ends[1], "eth0"))
		w, routed := e.way(ends[0], flow{to: to})
		if !routed || w.AdvMSS == 0 {
			continue
		}
		f.Cause += fmt.Sprintf(": the route of %s, %s, says so", ends[0], w.Route)
		f.Evidence = append(f.Evidence, seen("advmss", w.AdvMSS, ends[0], result.SourceRoutes))
		w.AdvMSS = 0
		f.Remedy, f.Fix, f.Confidence = remedy(ends[0], ipOf(to)+" route replace "+w.Route.String()), "", 0.95
		return
	}
	for _, m := range e.met(result.Trial{Workload: "tcp_rr"}) {
		if strings.HasPrefix(m.Act, "tcp maxseg set ") && m.After == nil {
			m.blame(e, f, "lowers what ends announce")
			return
		}
	}
}
