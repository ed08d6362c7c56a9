package diagnose

import (
	"fmt"

	"tare/result"
)

const (
	// againShare is the share of all segments that are sent again for nothing from
	// which that shows: 0.4 to 2 % where one in thirty or forty took a slower queue; a
	// quiet VXLAN has 0.03 to 0.09 % here, Docker's overlay 0.16 to 0.27 %.
	againShare = 0.003
	// needlessShare is the share of the segments sent again that the receiver had
	// already (RFC 2883) from which none was lost: 86 to 100 % where they came out of
	// order, 2 % where they were dropped.
	needlessShare = 0.5
	// overtakenShare is the share of the segments sent again for which those behind
	// them were the reason (RFC 6675), not a timer that did not wait long enough.
	overtakenShare = 0.5
)

// reordering knows packets that overtake each other: TCP takes those that come
// late for lost.
func reordering() Rule {
	return Rule{
		ID: "reordering", Doc: doc("reordering"),
		Cause: "packets overtake each other, and TCP sends again what it takes for lost",
		Fix:   "keep each flow in one queue and on one CPU",
		Match: func(e *Evidence) []result.Finding {
			again := e.counted(e.Client, snmp, "Tcp.RetransSegs")
			had := e.counted(e.Client, netstat, "TcpExt.TCPDSACKRecvSegs")
			overtaken := e.counted(e.Client, netstat, "TcpExt.TCPFastRetrans")
			sent := e.counted(e.Client, snmp, "Tcp.OutSegs")
			if sent == 0 || had < againShare*sent || had < needlessShare*again || overtaken < overtakenShare*again {
				return nil
			}
			return []result.Finding{{
				Cause: fmt.Sprintf("%.0f of %.0f segments that %s sent again had arrived already: they came out of order", had, again, e.Client),
				Evidence: []result.Evidence{
					seen("Tcp.OutSegs", sent, e.Client, snmp),
					seen("TcpExt.TCPDSACKRecvSegs", had, e.Client, netstat), seen("Tcp.RetransSegs", again, e.Client, snmp),
					seen("TcpExt.TCPFastRetrans", overtaken, e.Client, netstat),
				},
				Fix: e.run(hostOf(e.Client), "tc -s qdisc show") +
					"  # one queue for each flow; or receive it on one CPU: tare run --pin same tells whether it is that",
				Confidence: 0.85,
			}}
		},
	}
}
