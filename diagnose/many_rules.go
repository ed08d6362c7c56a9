package diagnose

import (
	"fmt"

	"tare/result"
)

// ruleLimit is how many rules a chain may hold before they affect a measurement: at
// about 5 ns each, these add a microsecond to every packet.
const ruleLimit = 200

// manyRules finds a chain with many rules that each packet is compared with.
func manyRules() Rule {
	return Rule{
		ID: "many-rules",
		Match: atEach(func(e *Evidence, at string) []result.Finding {
			var found []result.Finding
			for _, chain := range e.names(at, rules, ".rules") {
				count := e.number(at, rules, chain+".rules")
				hook := e.word(at, rules, chain+".hook")
				if count-float64(e.Rules) < ruleLimit || !e.passes(at, hook) {
					continue
				}
				found = append(found, result.Finding{
					Cause:      fmt.Sprintf("each packet is compared with the %.0f rules of %s in %s", count, chain, at),
					Evidence:   []result.Evidence{seen(chain+".rules", count, at, rules), seen(chain+".hook", hook, at, rules)},
					Fix:        e.run(at, "nft list chain "+chain) + "  # replace rules that differ only in an address or port by one rule with a set",
					Confidence: 0.9,
				})
			}
			return found
		}),
	}
}

// passes reports whether the trials' packets passed a hook.
func (e *Evidence) passes(at, hook string) bool {
	switch hook {
	case "forward":
		bridged := e.number(at, sysctls, "bridge/bridge-nf-call-iptables") == 1
		return e.counted(at, snmp, "Ip.ForwDatagrams") > 0 || bridged && len(e.devices(at)) > 0
	case "input":
		return e.counted(at, snmp, "Ip.InDelivers") > 0
	case "output":
		return e.counted(at, snmp, "Ip.OutRequests") > 0
	}
	return len(e.devices(at)) > 0
}
