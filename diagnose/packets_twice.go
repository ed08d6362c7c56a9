package diagnose

import (
	"fmt"
	"slices"

	"tare/result"
)

const (
	// twiceShare is the share of datagrams that came again, or of segments that the receiver had
	// though nobody sent them again, from which the path doubles packets.
	twiceShare = 0.05
	// leastTwice is from how many segments on.
	leastTwice = 20
)

// packetsTwice finds a path on which packets arrive more than once.
func packetsTwice() Rule {
	return Rule{
		ID: "packets-twice",
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			for _, ends := range [][2]string{{e.Client, e.Server}, {e.Server, e.Client}} {
				if again, sent := e.cameAgain(ends[0]); again.Name != "" {
					found = append(found, e.doubled(ends[0], ends[1], again, sent))
				}
			}
			return found
		},
	}
}

// doubled is the finding of packets from one end that came again at the other.
func (e *Evidence) doubled(from, to string, again, sent result.Evidence) result.Finding {
	f := result.Finding{
		Cause:      fmt.Sprintf("packets from %s to %s arrive twice", from, to),
		Evidence:   []result.Evidence{again, sent},
		Fix:        e.run(hostOf(to), "ip -d link show type bridge") + "  # a promiscuous bridge delivers what it also forwards; or a rule or a filter copies packets",
		Confidence: 0.85,
	}
	for _, m := range slices.Concat(e.met(result.Trial{Workload: "udp_rr"}), e.met(result.Trial{Workload: "tcp_rr"})) {
		if (m.Act == "dup" || m.Act == "TEE") && m.After == nil && m.reply == (from == e.Server) {
			m.blame(e, &f, "copies them")
			break
		}
	}
	return f
}

// cameAgain is the evidence that packets of an end came more often than it sent them; empty: they did not.
func (e *Evidence) cameAgain(from string) (again, sent result.Evidence) {
	came, all := e.datagrams("duplicates"), e.datagrams("datagrams")
	if from == e.Client && all > 0 && came > twiceShare*all {
		return seen("datagrams that came again", came, e.Server, trials), seen("datagrams", all, e.Server, trials)
	}
	had, resent, segments := e.counted(from, netstat, "TcpExt.TCPDSACKRecvSegs"), e.counted(from, snmp, "Tcp.RetransSegs"), e.counted(from, snmp, "Tcp.OutSegs")
	if had > leastTwice && had > 2*resent && had > twiceShare*segments {
		return seen("TcpExt.TCPDSACKRecvSegs", had, from, netstat), seen("Tcp.RetransSegs", resent, from, snmp)
	}
	// Since Linux 5.10 a sender counts apart that a segment came again which it sent once. There are
	// no more of these than replies, and than segments with data.
	once, most := e.counted(from, netstat, "TcpExt.TCPDSACKIgnoredDubious"), seen("Tcp.InSegs", e.counted(from, snmp, "Tcp.InSegs"), from, snmp)
	if data := e.counted(from, netstat, "TcpExt.TCPOrigDataSent"); data > 0 && data < result.Number(most.Value) {
		most = seen("TcpExt.TCPOrigDataSent", data, from, netstat)
	}
	if once > leastTwice && once > twiceShare*result.Number(most.Value) {
		return seen("TcpExt.TCPDSACKIgnoredDubious", once, from, netstat), most
	}
	return again, sent
}

// datagrams is a count of the trains of datagrams, or of the cell's.
func (e *Evidence) datagrams(counter string) (sum float64) {
	if e.Cell != nil {
		for _, s := range e.Cell.Samples {
			sum += s.Counters[counter]
		}
		return sum
	}
	for _, t := range e.Trials {
		if t.Workload == trainName {
			sum += t.Counters[counter]
		}
	}
	return sum
}

// blame makes a rule the cause of a finding, and says what it does.
func (m met) blame(e *Evidence, f *result.Finding, does string) {
	f.Cause += fmt.Sprintf(": a rule of %s in %s %s", m.In, m.at, does)
	f.Evidence = append(f.Evidence, seen("rule of "+m.In, "handle "+m.Handle+": "+m.Rule.Brief(), m.at, rules))
	f.Remedy, f.Fix, f.Confidence = m.remedy(e), "", 0.96
}
