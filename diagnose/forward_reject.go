package diagnose

import "tare/result"

// forwardReject finds a firewall that rejects packets which a host should forward,
// and reports this to the sender.
func forwardReject() Rule {
	return Rule{
		ID: "forward-reject", Grave: true, Dead: true,
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			for _, v := range e.verdicts(e.Places) {
				refusals := e.counted(v.at, snmp, "Icmp.OutDestUnreachs") + e.counted(v.at, snmp, "Tcp.OutRsts")
				if !v.rejects || v.ofEnd() || v.counted+refusals == 0 {
					continue
				}
				f := v.finding(e, "rejects packets that it should forward")
				f.Evidence = append(f.Evidence, seen("ICMP unreachables and TCP resets that it sent", refusals, v.at, snmp))
				f.Confidence = max(f.Confidence, 0.93)
				found = append(found, f)
			}
			return found
		},
	}
}
