package diagnose

import (
	"fmt"

	"tare/result"
)

// udpReceiveBuffer finds a receiver whose socket buffer is too small for the bursts
// that arrive.
func udpReceiveBuffer() Rule {
	return Rule{
		ID: "udp-receive-buffer", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			dropped := e.counted(e.Server, snmp, "Udp.RcvbufErrors")
			if e.Cell != nil && e.Cell.Workload != trainName {
				return nil // the others send more than any receiver takes, on purpose
			}
			if lost, loses := e.loses(); !loses || dropped == 0 {
				return nil
			} else {
				most := e.number(e.Server, sysctls, "core/rmem_max")
				return []result.Finding{{
					Cause: fmt.Sprintf("%s dropped %.0f datagrams: the receiving socket's buffer was full", e.Server, dropped),
					Evidence: []result.Evidence{
						seen("Udp.RcvbufErrors", dropped, e.Server, snmp), seen("core/rmem_max", most, e.Server, sysctls),
						e.lossOf(lost),
					},
					Fix:        "sysctl -w net.core.rmem_max=" + fmt.Sprintf("%.0f", max(4<<20, 4*most)) + "  # and set SO_RCVBUF to as much in the receiver",
					Confidence: 0.95,
				}}
			}
		},
	}
}
