package diagnose

import (
	"fmt"

	"tare/result"
)

// forwardingOff finds a host that does not forward packets for others.
func forwardingOff() Rule {
	return Rule{
		ID: "forwarding-off", Grave: true, Dead: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			var found []result.Finding
			refused := e.counted(at, snmp, "Ip.InAddrErrors")
			if refused == 0 {
				return nil
			}
			for _, name := range e.forwardingAt(at) {
				found = append(found, result.Finding{
					Cause: fmt.Sprintf("%s does not forward: %s is 0, and the path leads through it", at, name),
					Evidence: []result.Evidence{
						seen(name, 0, at, sysctls), seen("Ip.InAddrErrors", refused, at, snmp), e.trialFailed(),
					},
					Remedy:     remedy(at, "sysctl -w "+sysctlName(name)+"=1"),
					Confidence: 0.97,
				})
			}
			return found
		}),
	}
}

// forwardingAt are the settings that keep a place from forwarding: the one for all
// devices, or those of the devices on which packets arrived.
func (e *Evidence) forwardingAt(at string) []string {
	settings := e.state(at, sysctls)
	if value, there := settings["ipv4/ip_forward"]; there && result.Number(value) == 0 {
		return []string{"ipv4/ip_forward"}
	}
	var found []string
	for _, device := range e.devices(at) {
		name := "ipv4/conf/" + device + "/forwarding"
		if value, there := settings[name]; there && result.Number(value) == 0 {
			found = append(found, name)
		}
	}
	return found
}
