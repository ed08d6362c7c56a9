package diagnose

import (
	"fmt"

	"tare/catalog"
	"tare/result"
)

const (
	// againShare is the least share of all segments, retransmitted needlessly, that is
	// reported: 0.4 to 2 % where one in thirty or forty took a slower queue; a quiet
	// VXLAN has 0.03 to 0.09 %, Docker's overlay 0.16 to 0.27 %.
	againShare = 0.003
	// needlessShare is the share of the retransmitted segments that the receiver already
	// had (RFC 2883) from which none was lost: 86 to 100 % where they arrived out of
	// order, 2 % where they were dropped.
	needlessShare = 0.5
	// overtakenShare is the share of the retransmitted segments that were retransmitted
	// because later ones arrived (RFC 6675), not because a timer expired too early.
	overtakenShare = 0.5
)

// reordering finds packets that overtake each other: TCP treats late ones as lost.
func reordering() Rule {
	return Rule{
		ID: "reordering",
		Match: func(e *Evidence) []result.Finding {
			again := e.counted(e.Client, snmp, "Tcp.RetransSegs")
			had := e.counted(e.Client, netstat, "TcpExt.TCPDSACKRecvSegs")
			overtaken := e.counted(e.Client, netstat, "TcpExt.TCPFastRetrans")
			sent := e.counted(e.Client, snmp, "Tcp.OutSegs")
			if sent == 0 || again == 0 || had < againShare*sent || had < needlessShare*again || overtaken < overtakenShare*again {
				return nil
			}
			other := "or receive it on one CPU (interrupts, RSS, RPS)"
			if catalog.Builds(e.Network) {
				other = "or receive it on one CPU: run again with tare run --pin same to see whether that is the reason"
			}
			return []result.Finding{{
				Cause: fmt.Sprintf("%.0f of %.0f segments that %s retransmitted had already arrived: they arrived out of order", had, again, e.Client),
				Evidence: []result.Evidence{
					seen("Tcp.OutSegs", sent, e.Client, snmp),
					seen("TcpExt.TCPDSACKRecvSegs", had, e.Client, netstat), seen("Tcp.RetransSegs", again, e.Client, snmp),
					seen("TcpExt.TCPFastRetrans", overtaken, e.Client, netstat),
				},
				Fix:        e.run(hostOf(e.Client), "tc -s qdisc show") + "  # one queue for each flow; " + other,
				Confidence: 0.85,
			}}
		},
	}
}
