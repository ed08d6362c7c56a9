package diagnose

import (
	"fmt"

	"tare/result"
)

// mtuMismatch finds a device whose MTU is below that of its path: all data arrives,
// but in smaller packets or fragments, and the first packet may be refused.
func mtuMismatch() Rule {
	return Rule{
		ID: "mtu-mismatch",
		Match: func(e *Evidence) []result.Finding {
			if _, failed := e.failed(); failed || e.Inner <= 0 {
				return nil
			}
			var found []result.Finding
			for _, at := range e.Places {
				for _, device := range e.devices(at) {
					mtu, need := int(e.number(at, links, device+".mtu")), e.Inner
					if e.ofUnderlay(at, device) {
						need = e.MTU
					}
					cut := e.counted(at, snmp, "Ip.FragCreates") + e.counted(at, snmp, "Ip.FragFails")
					if mtu == 0 || mtu >= need {
						continue
					}
					found = append(found, result.Finding{
						Cause: fmt.Sprintf("%s in %s has MTU %d, the path allows %d", device, at, mtu, need),
						Evidence: []result.Evidence{
							seen(device+".mtu", mtu, at, links), seen("Ip.FragCreates and Ip.FragFails", cut, at, snmp),
						},
						Remedy:     remedy(at, fmt.Sprintf("ip link set dev %s mtu %d", device, need)),
						Confidence: 0.93,
					})
				}
			}
			return found
		},
	}
}
