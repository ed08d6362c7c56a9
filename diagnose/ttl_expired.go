package diagnose

import (
	"fmt"
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
			for _, at := range []string{e.Client, e.Server} {
				for _, setting := range []string{"ipv4/ip_default_ttl", "ipv6/conf/eth0/hop_limit"} {
					if ttl := e.number(at, sysctls, setting); ttl > 0 && ttl < fewHops && expired > 0 && len(found) == 0 && e.dead() {
						found = append(found, result.Finding{
							Cause:      fmt.Sprintf("%s sends with a TTL of %.0f: routers on the path drop its packets", at, ttl),
							Evidence:   []result.Evidence{seen(setting, ttl, at, sysctls), seen("packets whose TTL expired on the path", expired, "", snmp), e.trialFailed()},
							Remedy:     remedy(at, "sysctl -w "+sysctlName(setting)+"=64"),
							Confidence: 0.96,
						})
					}
				}
			}
			return found
		},
	}
}

// fewHops is a TTL with which packets do not get through a network of containers, and far.
const fewHops = 16

// expired is how many packets the places on the path dropped for their TTL.
func (e *Evidence) expired() (packets float64) {
	for _, at := range e.Places {
		packets += max(e.counted(at, snmp, "Icmp.OutTimeExcds"), e.counted(at, snmp, "Ip.InHdrErrors"), e.counted(at, snmp6, "Icmp6OutTimeExcds"), e.counted(at, snmp6, "Ip6InHdrErrors"))
	}
	return packets
}

func lastWord(text string) string { return text[strings.LastIndexByte(text, ' ')+1:] }
