package diagnose

import (
	"fmt"

	"tare/result"
)

// fullTable is the fill level from which the connection tracking table counts as
// full: bursts fill the rest. Where it dropped an entry for a new one (early_drop), it was full
// at the time.
const fullTable = 0.95

// conntrackFull finds a connection tracking table that has no room for new entries.
func conntrackFull() Rule {
	return Rule{
		ID: "conntrack-full", Grave: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			count, most := e.number(at, conntrack, "nf_conntrack_count"), e.number(at, conntrack, "nf_conntrack_max")
			lost := e.counted(at, tracked, "drop") + e.counted(at, tracked, "early_drop")
			if !e.fullTable(at) {
				return nil
			}
			return []result.Finding{{
				Cause: fmt.Sprintf("the connection tracking table of %s holds %.0f of %.0f entries: packets of new connections are dropped", at, count, most),
				Evidence: []result.Evidence{
					seen("nf_conntrack_count", count, at, conntrack), seen("nf_conntrack_max", most, at, conntrack),
					seen("drop and early_drop", lost, at, tracked),
				},
				Fix:        fmt.Sprintf("sysctl -w net.netfilter.nf_conntrack_max=%.0f  # on the machine itself: it applies to all network namespaces, which can't set it", 2*most),
				Confidence: 0.95,
			}}
		}),
	}
}

// fullTable reports whether the connection tracking table of a place has no room.
func (e *Evidence) fullTable(at string) bool {
	most := e.number(at, conntrack, "nf_conntrack_max")
	return most > 0 && (e.number(at, conntrack, "nf_conntrack_count") >= fullTable*most || e.counted(at, tracked, "early_drop") > 0)
}
