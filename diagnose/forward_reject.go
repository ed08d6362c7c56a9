package diagnose

import "tare/result"

// forwardReject finds a firewall that rejects packets which a host should forward,
// and reports this to the sender.
func forwardReject() Rule {
	return Rule{
		ID: "forward-reject", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			var by []met
			var found []result.Finding
			for _, m := range e.verdicts(true) {
				refusals := e.counted(m.at, snmp, "Icmp.OutDestUnreachs") + e.counted(m.at, snmp, "Tcp.OutRsts")
				if !m.rejects() || m.ofEnd(e) || m.counted+refusals == 0 {
					continue
				}
				f := m.finding(e, "rejects packets that it should forward")
				f.Evidence = append(f.Evidence, seen("ICMP unreachables and TCP resets that it sent", refusals, m.at, snmp))
				f.Confidence = max(f.Confidence, 0.93)
				by, found = append(by, m), append(found, f)
			}
			return eachProtocol(by, found)
		},
	}
}
