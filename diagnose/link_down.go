package diagnose

import (
	"fmt"
	"slices"

	"tare/result"
)

// linkDown finds a configured device that is down.
func linkDown() Rule {
	return Rule{
		ID: "link-down", Grave: true, Dead: true,
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			var found []result.Finding
			for _, device := range e.names(at, links, ".up") {
				if up, _ := e.state(at, links)[device+".up"].(bool); up || !e.configured(at, device) {
					continue
				}
				found = append(found, result.Finding{
					Cause:      fmt.Sprintf("%s in %s is down", device, at),
					Evidence:   []result.Evidence{seen(device+".up", false, at, links), e.trialFailed()},
					Remedy:     remedy(at, "ip link set dev "+device+" up"),
					Confidence: 0.97,
				})
			}
			return found
		}),
	}
}

// configured reports whether the device was configured: a kernel with tunnel modules
// adds one device of each kind to every namespace, down and without an address.
func (e *Evidence) configured(at, device string) bool {
	if e.word(at, links, device+".master") != "" {
		return true
	}
	if e.addressOn(at, device) != "" {
		return true
	}
	return slices.Contains([]string{"veth", "netkit", "vxlan", "bridge", "macvlan", "ipvlan", "vlan", "wireguard"}, e.word(at, links, device+".kind"))
}
