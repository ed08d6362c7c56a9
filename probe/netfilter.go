package probe

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// ruleCounters counts the packets that met firewall rules and policies with counters.
func ruleCounters() Probe {
	return Probe{
		Name: "rule_counters", Doc: "packets that met a firewall rule that counts", Scope: Namespace, Source: "nft list ruleset",
		count: func(v *view) (map[string]float64, error) {
			dumped, err := v.ruleset(mostCounted)
			if err != nil {
				return nil, err
			}
			counters := parseRuleCounters(dumped)
			legacy, err := v.legacy(nil)
			for _, l := range legacy {
				l.count(counters)
			}
			return counters, err
		},
	}
}

// rules reads what the rules of each chain match and do.
func rules() Probe {
	return Probe{
		Name: "rules", Doc: "hook, policy and rules of each chain of the firewall", Scope: Namespace, Source: "nft list ruleset",
		look: func(v *view) (map[string]any, error) {
			all, err := v.listings()
			if err != nil {
				return nil, err
			}
			values := map[string]any{}
			for _, l := range all {
				l.state(values)
			}
			return values, nil
		},
	}
}

// listings are all chains of a namespace, of nftables and of iptables-legacy.
func (v *view) listings() ([]listing, error) {
	dumped, err := v.ruleset(math.MaxInt)
	if err != nil {
		return nil, err
	}
	names, err := v.names()
	if err != nil {
		return nil, err
	}
	var sets map[string]*set
	if len(dumped) > 0 {
		if sets, err = v.nftSets(); err != nil {
			return nil, err
		}
	}
	legacy, err := v.legacy(names)
	if err != nil {
		return nil, err
	}
	return append(parseRules(dumped, sets, names), legacy...), nil
}

// Of nftables (include/uapi/linux/netfilter/nf_tables.h).
const (
	nftGetChain = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_GETCHAIN
	nftNewChain = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_NEWCHAIN
	nftGetRule  = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_GETRULE
	nftNewRule  = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_NEWRULE
	nfgenSize   = 4 // struct nfgenmsg
)

// mostCounted is how many rules are read around every window: the kernel and we
// take some microseconds for each.
const mostCounted = 200

// ruleset gives every chain and every rule. More rules than most are an error,
// and are not asked for.
func (v *view) ruleset(most int) ([]byte, error) {
	chains, err := v.dump(unix.NETLINK_NETFILTER, nftGetChain, make([]byte, nfgenSize))
	if err != nil {
		return nil, err
	}
	count := 0
	for m := range messages(chains) {
		if m.kind == nftNewChain {
			count += parseChain(m.body).uses
		}
	}
	switch {
	case count > most:
		return nil, errManyRules
	case count == 0:
		return chains, nil
	}
	rules, err := v.dump(unix.NETLINK_NETFILTER, nftGetRule, make([]byte, nfgenSize))
	return append(chains, rules...), err
}

var errManyRules = fmt.Errorf("a place has more than %d rules: too many to read around each window", mostCounted)

// parseRuleCounters reads chains and rules. The name of a rule's counter is its
// chain's, its handle and what becomes of the packet: "ip filter FORWARD 7
// drop"; that of a policy "ip filter FORWARD policy drop".
func parseRuleCounters(dumped []byte) map[string]float64 {
	counters := map[string]float64{}
	for m := range messages(dumped) {
		switch m.kind {
		case nftNewRule:
			if r := parseRule(m.body); r.counts {
				counters[fmt.Sprintf("%s %d %s", r.chain, r.handle, r.fate)] = float64(r.packets)
			}
		case nftNewChain:
			if c := parseChain(m.body); c.counts {
				counters[c.name+" policy "+c.policy] = float64(c.packets)
			}
		}
	}
	return counters
}

// Chain is one nftables chain and how many rules it holds.
type Chain struct {
	Table string `json:"table"`
	Chain string `json:"chain"`
	Type  string `json:"hook,omitempty"` // "filter", "nat"; empty: packets come only from other chains
	Rules int    `json:"rules"`
}

// parseChains reads chains and counts their rules.
func parseChains(dumped []byte) []Chain {
	chains, at := []Chain{}, map[string]int{}
	for m := range messages(dumped) {
		switch m.kind {
		case nftNewChain:
			c := parseChain(m.body)
			at[c.name] = len(chains)
			chains = append(chains, c.listed)
		case nftNewRule:
			if n, known := at[parseRule(m.body).chain]; known {
				chains[n].Rules++
			}
		}
	}
	return chains
}
