package diagnose

import (
	"fmt"

	"tare/result"
)

const (
	// againPerSecond is how many segments are sent again for nothing, in each
	// second of measuring, from which that shows.
	againPerSecond = 20.0
	// needlessShare is the share of the segments sent again that the receiver had
	// already (RFC 2883) from which none was lost: 86 to 100 % where they came out of
	// order, 2 % where they were dropped.
	needlessShare = 0.5
	// lateShare is the share of the answers that told of such segments for which the
	// kernel saw that others had overtaken them.
	lateShare = 0.05
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
			late := e.counted(e.Client, netstat, "TcpExt.TCPSACKReorder") + e.counted(e.Client, netstat, "TcpExt.TCPTSReorder")
			if seconds := e.seconds(); seconds == 0 || had < againPerSecond*seconds || had < needlessShare*again || late < lateShare*e.counted(e.Client, netstat, "TcpExt.TCPDSACKRecv") {
				return nil // without late ones it was a timer that did not wait long enough
			}
			return []result.Finding{{
				Cause: fmt.Sprintf("%.0f of %.0f segments that %s sent again had arrived already: they came out of order", had, again, e.Client),
				Evidence: []result.Evidence{
					seen("TcpExt.TCPDSACKRecvSegs", had, e.Client, netstat), seen("Tcp.RetransSegs", again, e.Client, snmp),
					seen("TcpExt.TCPSACKReorder and TCPTSReorder", late, e.Client, netstat),
				},
				Fix: e.run(hostOf(e.Client), "tc -s qdisc show") +
					"  # one queue for each flow; or receive it on one CPU: tare run --pin same tells whether it is that",
				Confidence: 0.85,
			}}
		},
	}
}

// seconds is how long a cell was measured in all, warm-ups included.
func (e *Evidence) seconds() float64 {
	return float64(len(e.Cell.Samples)) * (asNumber(e.Cell.Params["duration"]) + asNumber(e.Cell.Params["warmup"]))
}
