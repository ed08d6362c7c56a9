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
			again, sent := e.cameAgain()
			if again.Name == "" {
				return nil
			}
			f := result.Finding{
				Cause:      fmt.Sprintf("packets from %s to %s arrive twice", e.Client, e.Server),
				Evidence:   []result.Evidence{again, sent},
				Fix:        e.run(hostOf(e.Server), "ip -d link show type bridge") + "  # a promiscuous bridge delivers what it also forwards; or a rule or a filter copies packets",
				Confidence: 0.85,
			}
			for _, m := range slices.Concat(e.met(result.Trial{Workload: "udp_rr"}), e.met(result.Trial{Workload: "tcp_rr"})) {
				if (m.Act == "dup" || m.Act == "TEE") && m.After == nil {
					m.blame(e, &f, "copies them")
					break
				}
			}
			return []result.Finding{f}
		},
	}
}

// cameAgain is the evidence that packets came more often than they were sent; empty: they did not.
func (e *Evidence) cameAgain() (again, sent result.Evidence) {
	came, all := e.datagrams("duplicates"), e.datagrams("datagrams")
	if all > 0 && came > twiceShare*all {
		return seen("datagrams that came again", came, e.Server, trials), seen("datagrams", all, e.Server, trials)
	}
	had, resent, segments := e.counted(e.Client, netstat, "TcpExt.TCPDSACKRecvSegs"), e.counted(e.Client, snmp, "Tcp.RetransSegs"), e.counted(e.Client, snmp, "Tcp.OutSegs")
	if had > leastTwice && had > 2*resent && had > twiceShare*segments {
		return seen("TcpExt.TCPDSACKRecvSegs", had, e.Client, netstat), seen("Tcp.RetransSegs", resent, e.Client, snmp)
	}
	// Since Linux 5.10 a sender counts apart that a segment came again which it sent once.
	once, acks := e.counted(e.Client, netstat, "TcpExt.TCPDSACKIgnoredDubious"), e.counted(e.Client, snmp, "Tcp.InSegs")
	if once > leastTwice && once > twiceShare*acks {
		return seen("TcpExt.TCPDSACKIgnoredDubious", once, e.Client, netstat), seen("Tcp.InSegs", acks, e.Client, snmp)
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
