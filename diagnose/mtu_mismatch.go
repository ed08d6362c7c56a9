package diagnose

import (
	"fmt"

	"tare/result"
)

// mtuMismatch knows a device whose MTU is not that of its path: all arrives,
// after a first packet that was refused, in smaller packets or in fragments.
func mtuMismatch() Rule {
	return Rule{
		ID: "mtu-mismatch", Doc: doc("mtu-mismatch"),
		Cause: "a device's MTU is not that of the path: packets are smaller than they could be, refused once or cut into fragments",
		Fix:   "ip link set dev DEVICE mtu BYTES",
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
						Cause: fmt.Sprintf("%s in %s has MTU %d, the path takes %d", device, at, mtu, need),
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
