package diagnose

import (
	"fmt"

	"tare/catalog"
	"tare/result"
)

// portClosed finds a port that no process serves, or that a firewall of its end
// closes.
func portClosed() Rule {
	return Rule{
		ID: "port-closed", Grave: true, Dead: true,
		Match: func(e *Evidence) []result.Finding {
			var found []result.Finding
			for _, v := range e.verdicts(e.suspects()) {
				if v.ofEnd() {
					found = append(found, v.finding(e, "closes the port"))
				}
			}
			if f, closed := e.unpublished(); closed && len(found) == 0 && !catalog.ByService(e.Path) {
				found = append(found, f)
			}
			return found
		},
	}
}

// unpublished is the finding that a host refuses a port at which a container should
// be published; closed reports whether it does.
func (e *Evidence) unpublished() (f result.Finding, closed bool) {
	t, _ := e.failed()
	at := e.owner(e.Dial)
	if t.Failure() != result.Refused || at == "" || at == e.Server || e.all(0).passed > 0 {
		return result.Finding{}, false
	}
	return result.Finding{
		Cause: fmt.Sprintf("%s refuses the published port of %s: no rule forwards it and nothing listens", at, e.Server),
		Evidence: []result.Evidence{
			errorOf(t), seen("Tcp.OutRsts", e.counted(at, snmp, "Tcp.OutRsts"), at, snmp),
			seen("Icmp.OutDestUnreachs", e.counted(at, snmp, "Icmp.OutDestUnreachs"), at, snmp),
		},
		Fix:        e.run(at, "nft list table ip nat") + "  # then publish the port again with the container engine",
		Confidence: 0.85,
	}, true
}
