package probe

import (
	"strconv"
	"strings"

	"tare/firewall"
)

// listing is a chain with its rules.
type listing struct {
	firewall.Chain
	rules   int       // those that are not listed, too
	counts  bool      // the policy has a counter
	packets float64   // that came to the policy
	met     []float64 // that each listed rule of iptables-legacy matched
}

// mostListed is how many rules of a chain are read as a text.
const mostListed = 500

// parseRules reads chains and rules.
func parseRules(dumped []byte, sets map[string]*set, names map[uint32]string) []listing {
	var all []listing
	at := map[string]int{}
	for m := range messages(dumped) {
		switch m.kind {
		case nftNewChain:
			c := parseChain(m.body)
			at[c.name] = len(all)
			all = append(all, listing{counts: c.counts, Chain: firewall.Chain{Name: c.name, Hook: c.hook, Device: c.device, Priority: c.priority, Policy: c.policy}})
		case nftNewRule:
			r := parseRule(m.body)
			n, known := at[r.chain]
			if !known {
				continue
			}
			if all[n].rules++; all[n].rules <= mostListed {
				all[n].Listed = append(all[n].Listed, firewall.Listed{Handle: strconv.FormatUint(r.handle, 10), Rule: r.decode(sets, names)})
			}
		}
	}
	return all
}

// state writes the settings of a chain: "ip filter FORWARD.rules", how many, ".handles" in their
// order, and each of them by its handle as a text, "ip filter FORWARD 7": package firewall reads
// it. Of a chain that packets come to by themselves ".hook", ".priority", ".device", ".policy" and
// whether it ".counts" what comes to its policy.
func (l listing) state(values map[string]any) {
	values[l.Name+".rules"] = max(l.rules, len(l.Listed))
	if l.Hook != "" {
		values[l.Name+".hook"], values[l.Name+".policy"], values[l.Name+".counts"] = l.Hook, l.Policy, l.counts
		values[l.Name+".priority"] = l.Priority
	}
	if l.Device != "" {
		values[l.Name+".device"] = l.Device
	}
	if l.rules > mostListed || len(l.Listed) == 0 {
		return
	}
	handles := make([]string, len(l.Listed))
	for n, one := range l.Listed {
		handles[n] = one.Handle
		values[l.Name+" "+one.Handle] = one.Rule.String()
	}
	values[l.Name+".handles"] = strings.Join(handles, " ")
}

// count adds the counters of a chain of iptables-legacy.
func (l listing) count(counters map[string]float64) {
	if l.counts {
		counters[l.Name+" policy "+l.Policy] = l.packets
	}
	for n, packets := range l.met {
		acts := l.Listed[n].Rule.Acts
		counters[l.Name+" "+l.Listed[n].Handle+" "+acts[len(acts)-1]] = packets
	}
}
