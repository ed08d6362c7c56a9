package diagnose

import "tare/result"

// forwardReject knows a firewall that refuses what a host should pass on, and
// says so to the sender.
func forwardReject() Rule {
	return Rule{
		ID: "forward-reject", Grave: true, Doc: doc("forward-reject"),
		Cause: "a firewall on the way rejects what the host should pass on (ICMP host prohibited, TCP reset)",
		Fix:   "delete the rule",
		Match: func(e *Evidence) []result.Finding {
			if !e.dead() {
				return nil
			}
			var found []result.Finding
			for _, v := range e.verdicts(e.Places) {
				told := e.counted(v.at, snmp, "Icmp.OutDestUnreachs") + e.counted(v.at, snmp, "Tcp.OutRsts")
				if !v.rejects || v.ofEnd() || v.counted+told == 0 {
					continue
				}
				f := v.finding(e, "rejects what it should pass on")
				f.Evidence = append(f.Evidence, seen("ICMP unreachables and TCP resets that it sent", told, v.at, snmp))
				f.Confidence = max(f.Confidence, 0.93)
				found = append(found, f)
			}
			return found
		},
	}
}
