package diagnose

import (
	"strings"

	"tare/result"
)

// ttlExpired finds a rule that lets packets expire at the next router.
func ttlExpired() Rule {
	return Rule{
		ID: "ttl-expired", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			expired := e.expired()
			for _, m := range e.metInVain(func(m met) bool { return expired > 0 && strings.HasPrefix(m.Act, "ip ttl set ") }) {
				f := m.finding(e, "sets the TTL to "+lastWord(m.Act)+": the next router drops the packets")
				f.Evidence = append(f.Evidence, seen("packets whose TTL expired on the path", expired, "", snmp))
				f.Confidence = 0.95
				found = append(found, f)
			}
			return found
		},
	}
}

// expired is how many packets the places on the path dropped for their TTL.
func (e *Evidence) expired() (packets float64) {
	for _, at := range e.Places {
		packets += max(e.counted(at, snmp, "Icmp.OutTimeExcds"), e.counted(at, snmp, "Ip.InHdrErrors"))
	}
	return packets
}

func lastWord(text string) string { return text[strings.LastIndexByte(text, ' ')+1:] }
