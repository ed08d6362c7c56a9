package diagnose

import (
	"fmt"
	"strings"

	"tare/result"
)

// rpFilter finds a reverse-path filter that drops packets which arrive on another
// device than their replies would leave by (RFC 3704).
func rpFilter() Rule {
	return Rule{
		ID: "rp-filter", Grave: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			dropped := e.counted(at, netstat, "TcpExt.IPReversePathFilter")
			if _, failed := e.failed(); !failed || dropped == 0 || e.anyDiverted(at) {
				return nil // the way of replies is wrong, not the filter
			}
			finding := result.Finding{
				Cause:      fmt.Sprintf("the reverse-path filter of %s drops packets whose replies would leave by another device", at),
				Evidence:   []result.Evidence{seen("TcpExt.IPReversePathFilter", dropped, at, netstat), e.trialFailed()},
				Confidence: 0.97,
			}
			var loose []string
			settings := e.state(at, sysctls)
			for _, name := range keys(settings) {
				if value := settings[name]; strings.HasSuffix(name, "/rp_filter") && result.Number(value) == 1 {
					finding.Evidence = append(finding.Evidence, seen(name, value, at, sysctls))
					loose = append(loose, sysctlName(name)+"=2")
				}
			}
			finding.Remedy = remedy(at, "sysctl -w "+strings.Join(loose, " "))
			return []result.Finding{finding}
		}),
	}
}

// sysctlName is the name by which sysctl(8) knows a file below /proc/sys/net.
func sysctlName(file string) string { return "net/" + file }
