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
			for _, of := range []struct {
				source, counter string
				off             []string
			}{
				{snmp, "Ip.InAddrErrors", e.forwardingAt(at)},
				{snmp6, "Ip6InAddrErrors", e.off(at, "ipv6/conf/all/forwarding")},
			} {
				refused := e.counted(at, of.source, of.counter)
				for _, name := range of.off {
					if refused == 0 {
						break
					}
					found = append(found, result.Finding{
						Cause:      fmt.Sprintf("%s does not forward: %s is 0, and the path leads through it", at, name),
						Evidence:   []result.Evidence{seen(name, 0, at, sysctls), seen(of.counter, refused, at, of.source), e.trialFailed()},
						Remedy:     remedy(at, "sysctl -w "+sysctlName(name)+"=1"),
						Confidence: 0.97,
					})
				}
			}
			return found
		}),
	}
}

// forwardingAt are the settings that keep a place from forwarding IPv4: the one for all
// devices, or those of the devices on which packets arrived.
func (e *Evidence) forwardingAt(at string) []string {
	if all := e.off(at, "ipv4/ip_forward"); len(all) > 0 {
		return all
	}
	var names []string
	for _, device := range e.devices(at) {
		names = append(names, "ipv4/conf/"+device+"/forwarding")
	}
	return e.off(at, names...)
}

// off are those of some settings of a place that are 0.
func (e *Evidence) off(at string, names ...string) (off []string) {
	settings := e.state(at, sysctls)
	for _, name := range names {
		if value, there := settings[name]; there && result.Number(value) == 0 {
			off = append(off, name)
		}
	}
	return off
}
