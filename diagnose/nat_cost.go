package diagnose

import (
	"fmt"
	"strings"

	"tare/catalog"
	"tare/result"
)

// natCost finds paths on which addresses are rewritten.
func natCost() Rule {
	return Rule{
		ID: "nat-cost", Limit: mostOfRung,
		Match: func(e *Evidence) []result.Finding {
			m, slow := slower(e.Cell)
			if !slow || e.copied() {
				return nil
			}
			if catalog.ByPublishedPort(e.Path) {
				return e.publishes(m)
			}
			if catalog.ByService(e.Path) {
				return e.serves(m)
			}
			return e.translations(m)
		},
	}
}

// publishes is the finding of a published port that is reached by rewriting
// addresses.
func (e *Evidence) publishes(m result.Metric) []result.Finding {
	at := hostOf(e.Server)
	var chains []string
	for _, chain := range e.names(at, rules, ".hook") {
		if strings.Contains(chain, " nat ") && e.number(at, rules, chain+".rules") > 0 {
			chains = append(chains, chain)
		}
	}
	if len(chains) == 0 {
		return nil
	}
	return []result.Finding{e.adding(m, result.Finding{
		Cause:      fmt.Sprintf("the published port of %s is reached by NAT: addresses are rewritten in each packet", at),
		Evidence:   append(e.tolled(m), seen("chains that rewrite addresses", strings.Join(chains, ", "), at, rules)),
		Fix:        e.nature() + "; a client that has a route to the container's address needs no published port",
		Confidence: e.attributed(0.7),
	})}
}

// serves is the finding of a Service whose address kube-proxy's rules rewrite to that of one
// of its endpoints.
func (e *Evidence) serves(m result.Metric) []result.Finding {
	at := hostOf(e.Client)
	if e.Path == catalog.NodePort || e.Path == catalog.ContainerToNodePort {
		at = hostOf(e.Server)
	}
	for _, chain := range e.names(at, rules, ".rules") {
		if !strings.HasSuffix(chain, " nat "+serviceList) && chain != serviceMap {
			continue
		}
		rows := e.number(at, rules, chain+".rules")
		f := result.Finding{
			Cause:      fmt.Sprintf("the address of the Service is rewritten in %s to that of a container behind it: each packet is looked up in the connection table", at),
			Evidence:   append(e.tolled(m), seen(chain+".rules", rows, at, rules)),
			Fix:        "clusterIP: None  # a headless Service: its clients look up the containers' own addresses",
			Confidence: e.attributed(0.7),
		}
		if rows >= ruleLimit && e.connects() {
			return []result.Finding{f} // how much of the toll is the length of the list is not known
		}
		return []result.Finding{e.adding(m, f)}
	}
	return nil
}

// translations are the findings of the hosts' rules that rewrote addresses of the
// measured packets. A NAT chain sees only the first packet of each connection; the
// rest of the cost is connection tracking.
func (e *Evidence) translations(m result.Metric) []result.Finding {
	var found []result.Finding
	for _, at := range e.Places {
		for _, r := range e.rewriting(at) {
			found = append(found, result.Finding{
				Cause:      fmt.Sprintf("a rule of %s in %s rewrites addresses of the measured packets: each is looked up in the connection table and rewritten", r.chain, at),
				Evidence:   append(e.tolled(m), seen("connections that rule "+r.handle+" of "+r.chain+" rewrote", r.counted, at, rules)),
				Remedy:     remedy(at, "nft delete rule "+r.chain+" handle "+r.handle),
				Fix:        "if the other end can reply to the address that it then sees",
				Confidence: 0.8, Share: e.added(m),
			})
		}
	}
	return found
}

// translator is a rule that counted connections whose addresses it rewrote.
type translator struct {
	chain, handle string
	counted       float64
}

// rewriting are those of a place, in order.
func (e *Evidence) rewriting(at string) []translator {
	var found []translator
	sums := e.ruleCounts(at)
	for _, name := range keys(sums) {
		words := strings.Fields(name)
		if len(words) < 5 || sums[name] <= 0 {
			continue
		}
		switch strings.ToLower(words[4]) {
		case "masq", "nat", "redir", "masquerade", "snat", "dnat", "redirect":
			found = append(found, translator{chain: strings.Join(words[:3], " "), handle: words[3], counted: sums[name]})
		}
	}
	return found
}
