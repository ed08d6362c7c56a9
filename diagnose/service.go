package diagnose

import (
	"fmt"
	"strings"

	"tare/catalog"
	"tare/result"
)

// serviceUnserved finds a Service of Kubernetes that leads nowhere, while the same ends reach each
// other without it.
func serviceUnserved() Rule {
	return Rule{
		ID: "service-unserved", Grave: true, Dead: true,
		Match: func(e *Evidence) []result.Finding {
			if !catalog.ByService(e.Path) || e.Path == catalog.Hairpin {
				return nil
			}
			t, _ := e.failed()
			at := hostOf(e.Client)
			if e.Path == catalog.NodePort || e.Path == catalog.ContainerToNodePort {
				at = hostOf(e.Server)
			}
			if f, lacks := e.withoutRule(t, at); lacks {
				return []result.Finding{f}
			}
			of := e.small(transport(t), t.IP)
			if e.Passing == "" || t.Failure() != result.Refused && (of.passed > 0 || of.failed < 2) {
				return nil
			}
			why := "the node has no rule for it: kube-proxy, or what replaces it, does not run there or does not write its rules"
			if t.Failure() == result.Refused {
				why = "the node knows no server of it: kube-proxy, or what replaces it, is behind the cluster's changes there"
			}
			return []result.Finding{{
				Cause:      fmt.Sprintf("the Service at %s leads to no server from %s, while %s reaches it without the Service: %s", e.Dial, at, e.Client, why),
				Evidence:   []result.Evidence{errorOf(t), passes(e.Passing)},
				Fix:        fmt.Sprintf("kubectl get pods -n kube-system -l k8s-app=kube-proxy -o wide  # one must run on the node of %s; its log says what it waits for: kubectl logs -n kube-system", at),
				Confidence: 0.9,
			}}
		},
	}
}

// withoutRule is the finding that a node has no rule for a Service, as its rules show, if it has none
// and knows Services by such rules.
func (e *Evidence) withoutRule(t result.Trial, at string) (f result.Finding, lacks bool) {
	byRules := e.dnats(at) || e.Network == "service-iptables" || e.Network == "service-nftables"
	if len(e.destinations(t, at)) > 0 || !byRules || e.unread(rules) {
		return f, false
	}
	what := fmt.Sprintf("%s port %d over %s", e.Dial, e.Port, strings.ToUpper(transport(t)))
	f = result.Finding{
		Cause:      fmt.Sprintf("no rule of %s leads packets for the Service at %s to a server", at, what),
		Evidence:   []result.Evidence{seen("rule for "+what, "none", at, rules), errorOf(t)},
		Fix:        "kube-proxy, or what writes these rules, is behind the cluster's changes there: its log says why",
		Confidence: 0.96,
	}
	if routed := e.lead(at, "prerouting", "", e.unled()...); routed != "" { // for its containers, and for itself
		f.Remedy = remedy(at, routed+" && "+e.lead(at, "output", "", e.unled()...))
	}
	return f, true
}

// hairpinOff finds a pod that does not reach itself through its own Service, as others do.
func hairpinOff() Rule {
	return Rule{
		ID: "hairpin-off", Grave: true, Dead: true,
		Match: func(e *Evidence) []result.Finding {
			if e.Path != catalog.Hairpin || e.Passing == "" {
				return nil
			}
			t, _ := e.failed()
			return []result.Finding{{
				Cause:      fmt.Sprintf("%s does not reach itself through its own Service, while Services lead to other pods: its packets do not come back through the device by which they left", e.Client),
				Evidence:   []result.Evidence{errorOf(t), passes(e.Passing)},
				Fix:        `grep -r hairpinMode /etc/cni/net.d  # on the node of ` + hostOf(e.Client) + `: the bridge plugin needs "hairpinMode": true; pods that are made then have it`,
				Confidence: 0.85,
			}}
		},
	}
}

// passes is the evidence that a path passes.
func passes(path string) result.Evidence { return seen(path, "passes", "", trials) }
