package diagnose

import (
	"fmt"
	"strings"

	"tare/result"
)

// wrongGateways are the findings of a container that sends what it has for a gateway which nobody on the
// path has, and for which its host answers, to another link address than its host's device has.
func (e *Evidence) wrongGateways(at string) (found []result.Finding) {
	host := hostOf(at)
	port := e.portOf(host, at)
	theirs := e.word(host, links, port+".mac")
	if theirs == "" || e.word(host, links, port+".master") != "" {
		return nil
	}
	for _, r := range e.Routes {
		name := r.Via.String() + " dev eth0"
		mac, state, known := neighbourOf(e.word(at, neighbours, name))
		if r.At != at || r.Device != "eth0" || !r.Via.IsValid() || r.Learned || e.owner(r.Via.String()) != "" || !known || e.hasMAC(host, mac) {
			continue
		}
		command := fmt.Sprintf("%s neighbour replace %s lladdr %s dev eth0 nud permanent", ipOf(r.Via), r.Via, theirs)
		if e.number(host, sysctls, "ipv4/conf/"+port+"/proxy_arp")+e.number(host, sysctls, "ipv4/conf/all/proxy_arp") > 0 && r.Via.Is4() {
			command = "ip neighbour del " + name
		}
		return append(found, result.Finding{
			Cause:      fmt.Sprintf("%s sends packets for its gateway %s to %s; %s of %s, which is behind its device, has %s", at, r.Via, mac, port, host, theirs),
			Evidence:   []result.Evidence{seen(name, mac+" "+state, at, neighbours), seen(port+".mac", theirs, host, links), e.trialFailed()},
			Remedy:     remedy(at, command),
			Confidence: 0.96,
		})
	}
	return found
}

// neighbourOf parts the state of a neighbour entry; false: its link address is not known.
func neighbourOf(entry string) (mac, state string, known bool) {
	mac, state, known = strings.Cut(entry, " ")
	return mac, state, known && strings.Count(mac, ":") == 5
}
