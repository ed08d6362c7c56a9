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
					Fix: fmt.Sprintf("sysctl -w net.core.rmem_default=%.0f net.core.rmem_max=%.0f  # on the machine itself: no other network namespace can set them. "+
						"A receiver that sets SO_RCVBUF has what it asks for up to rmem_max, one that does not has rmem_default",
						max(leastBuffer, 4*e.number(e.Server, sysctls, "core/rmem_default")), max(leastBuffer, 4*most)),
					Confidence: 0.95,
				}}
			}
		},
	}
}

// leastBuffer is what a receiver of bursts should at least have room for, in bytes: the limit that newer kernels
// have by themselves, under which a socket that asks for nothing still gets less.
const leastBuffer = 4 << 20
