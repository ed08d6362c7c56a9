package diagnose

import (
	"fmt"

	"tare/result"
)

// neighbourTableFull finds that the machine has no room for new neighbours: one table holds those
// of all its namespaces.
func neighbourTableFull() Rule {
	return Rule{
		ID: "neighbour-table-full", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			for _, family := range []string{"ipv4", "ipv6"} {
				table, folder := neighbourTable(family)
				refused := e.counted("", table, "table_fulls")
				if refused == 0 {
					continue
				}
				most := e.number("", folder, "gc_thresh3")
				setting := "net." + family + ".neigh.default.gc_thresh"
				found = append(found, result.Finding{
					Cause: fmt.Sprintf("the machine's table of neighbours is full: it may have %.0f of %s, those of all network namespaces together", most, familyName(family)),
					Evidence: []result.Evidence{
						seen("table_fulls", refused, "", table), seen("gc_thresh3", most, "", folder), e.trialFailed(),
					},
					Fix: fmt.Sprintf("sysctl -w %s2=%.0f %s3=%.0f  # on the machine itself: no other network namespace can set it",
						setting, max(leastTable/2, 4*most), setting, max(leastTable, 8*most)),
					Confidence: 0.96,
				})
			}
			return found
		},
	}
}

// leastTable is how many neighbours a machine with containers should at least have room for.
const leastTable = 8192

// neighbourTable are the sources of what the table of a family refused, and of its limits.
func neighbourTable(family string) (table, limits string) {
	if family == "ipv6" {
		return ndiscCache, ndiscLimits
	}
	return arpCache, arpLimits
}

func familyName(family string) string {
	if family == "ipv6" {
		return "IPv6"
	}
	return "IPv4"
}
