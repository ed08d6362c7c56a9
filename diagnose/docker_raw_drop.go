package diagnose

import (
	"fmt"
	"slices"

	"tare/result"
)

// dockerRawDrop finds the rule by which Docker keeps others from a container's own address: it is in
// the table raw, so that it also drops what something before netfilter has led there already.
func dockerRawDrop() Rule {
	return Rule{
		ID: "docker-raw-drop", Grave: true,
		Match: func(e *Evidence) []result.Finding {
			var by []met
			var found []result.Finding
			for _, m := range e.verdicts(false) {
				if !m.keepsDirect() {
					continue
				}
				f := m.finding(e, "drops what comes for the container's own address from outside its bridge, as Docker has it since version 28")
				f.Fix = `Docker adds it again: "allow-direct-routing": true in /etc/docker/daemon.json, or create the network with --opt com.docker.network.bridge.trusted_host_interfaces=DEVICE`
				if e.Dial != m.keptAddress() {
					f.Cause += fmt.Sprintf("; a data path before netfilter translates %s to it", e.Dial)
				}
				by, found = append(by, m), append(found, f)
			}
			return eachProtocol(by, found)
		},
	}
}

// rawPriority is the priority of the table raw, before connections are tracked
// (NF_IP_PRI_RAW, include/uapi/linux/netfilter_ipv4.h).
const rawPriority = -300

// keepsDirect reports whether a rule drops what comes for one address by any device but one, before
// connections are tracked and translated.
func (m met) keepsDirect() bool {
	if m.hook != "prerouting" || m.Act != "drop" || m.Chain.Priority > rawPriority || len(m.Rule.Matches) != 2 {
		return false
	}
	var address, device bool
	for _, match := range m.Rule.Matches {
		address = address || slices.Contains([]string{"ip daddr", "ip6 daddr"}, match.Key) && !match.Not && len(match.Values) == 1
		device = device || match.Key == "iifname" && match.Not
	}
	return address && device
}

// keptAddress is the address that such a rule keeps.
func (m met) keptAddress() string {
	for _, match := range m.Rule.Matches {
		if match.Key != "iifname" {
			return match.Values[0]
		}
	}
	return ""
}
