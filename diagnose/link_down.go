package diagnose

import (
	"fmt"
	"slices"
	"strings"

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
					Remedy:     remedy(at, "ip link set dev "+device+" up"+e.lostWith(at, device)),
					Confidence: 0.97,
				})
			}
			return found
		}),
	}
}

// lostWith are the commands that bring back the routes which a place lost with a device, joined to one
// before; empty: they are still there, or come back by themselves.
func (e *Evidence) lostWith(at, device string) (commands string) {
	for _, a := range e.Addresses {
		if a.At != at || a.Device != device || a.Prefix.Bits() == a.Prefix.Addr().BitLen() {
			continue
		}
		if _, routed := e.route(at, a.Prefix.Masked().Addr().String()); !routed {
			commands += fmt.Sprintf(" && %s route replace %s dev %s", ipOf(a.Prefix.Addr()), a.Prefix.Masked(), device) + e.control(at)
		}
	}
	for _, end := range []string{e.Client, e.Server} {
		prefix := e.prefixOn(end, "eth0")
		if prefix.IsValid() && e.portOf(at, end) == device && e.word(at, links, device+".master") == "" {
			if w, routed := e.way(at, flow{to: prefix.Addr(), marked: true}); !routed || w.Device != device {
				commands += fmt.Sprintf(" && %s route replace %s dev %s", ipOf(prefix.Addr()), prefix.Addr(), device) + e.control(at)
			}
			continue
		}
		if !prefix.IsValid() || end == at || e.deviceIn(at, prefix.Masked()) != "" {
			continue
		}
		if _, routed := e.route(at, prefix.Addr().String()); routed {
			continue
		}
		steps := strings.Split(e.addRoute(at, end), " && ")
		for n, step := range steps {
			if n == len(steps)-1 || !strings.Contains(step, " route ") {
				commands += " && " + strings.Replace(step, " route add ", " route replace ", 1)
			}
		}
	}
	return commands
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
