package diagnose

import (
	"fmt"
	"strings"

	"tare/catalog"
	"tare/result"
)

// ruleLimit is how many rules a chain may hold before they affect a measurement: at
// about 5 ns each, these add a microsecond to every packet.
const ruleLimit = 200

// manyRules finds a chain with many rules that each packet is compared with, or, in a table of
// NAT, the first packet of each connection.
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
				what, fix := "each packet", e.run(at, "nft list chain "+chain)+"  # replace rules that differ only in an address or port by one rule with a set"
				if strings.HasPrefix(chain, "ip nat ") {
					if !e.connects() {
						continue
					}
					what = "the first packet of each connection"
				}
				if strings.HasSuffix(chain, " "+serviceList) {
					fix = "kube-proxy --proxy-mode nftables  # one look-up for all Services"
				}
				found = append(found, result.Finding{
					Cause:      fmt.Sprintf("%s is compared with the %.0f rules of %s in %s", what, count, chain, at),
					Evidence:   []result.Evidence{seen(chain+".rules", count, at, rules), seen(chain+".hook", hook, at, rules)},
					Fix:        fix,
					Confidence: 0.9,
				})
			}
			return found
		}),
	}
}

// rulesCost finds what the rules cost that a network was asked to have: what it costs more than
// the same network without them.
func rulesCost() Rule {
	return Rule{
		ID: "many-rules",
		Match: func(e *Evidence) []result.Finding {
			return e.beside(catalog.Rules, "each packet is compared with the %s rules that the network was asked to have",
				"nft list ruleset  # replace rules that differ only in an address or port by one rule with a set")
		},
	}
}

// kube-proxy's list of all Services in its mode iptables, and the chain that looks them up in
// its mode nftables.
const (
	serviceList = "KUBE-SERVICES"
	serviceMap  = "ip kube-proxy services"
)

// connects reports whether what is explained opens a connection for each request, or is no
// measurement.
func (e *Evidence) connects() bool {
	return e.Cell == nil || e.Cell.Workload == "tcp_crr" || e.Cell.Mode == "close"
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
