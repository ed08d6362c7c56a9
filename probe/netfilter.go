package probe

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ruleCounters counts the packets that met nftables rules and policies with
// counters, those of iptables (nf_tables) among them.
func ruleCounters() Probe {
	return Probe{
		Name: "rule_counters", Doc: "packets that met a firewall rule that counts", Scope: Namespace, Source: "nft list ruleset",
		count: func(v *view) (map[string]float64, error) {
			dumped, err := v.ruleset(mostCounted)
			if err != nil {
				return nil, err
			}
			return parseRuleCounters(dumped), nil
		},
	}
}

// rules reads how many rules each nftables chain holds.
func rules() Probe {
	return Probe{
		Name: "rules", Doc: "rules, hook and policy of each nftables chain", Scope: Namespace, Source: "nft list ruleset",
		look: func(v *view) (map[string]any, error) {
			dumped, err := v.ruleset(math.MaxInt)
			if err != nil {
				return nil, err
			}
			return parseRules(dumped), nil
		},
	}
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

// parseRules reads the settings of chains: "ip filter FORWARD.rules" and, of a chain
// that packets come to by themselves, ".hook", ".policy" and whether it
// ".counts" what comes to its policy. Of the rules that end a packet ".random"
// are the handles of those that match at random, ".drop" and ".reject" of the others
// that do not count it.
func parseRules(dumped []byte) map[string]any {
	values, count, handles := map[string]any{}, map[string]int{}, map[string][]string{}
	for m := range messages(dumped) {
		switch m.kind {
		case nftNewChain:
			c := parseChain(m.body)
			values[c.name+".rules"] = 0
			if c.hook != "" {
				values[c.name+".hook"], values[c.name+".policy"], values[c.name+".counts"] = c.hook, c.policy, c.counts
			}
		case nftNewRule:
			r := parseRule(m.body)
			count[r.chain+".rules"]++
			handle := strconv.FormatUint(r.handle, 10)
			switch fate := strings.ToLower(r.fate); {
			case fate != "drop" && fate != "reject":
			case r.random:
				handles[r.chain+".random"] = append(handles[r.chain+".random"], handle)
			case !r.counts:
				handles[r.chain+"."+fate] = append(handles[r.chain+"."+fate], handle)
			}
		}
	}
	for name, all := range handles {
		values[name] = strings.Join(all, " ")
	}
	for name, n := range count {
		values[name] = n
	}
	return values
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

// chain is what a message reports of one.
type chain struct {
	name         string // "ip filter FORWARD"
	listed       Chain  // without its number of rules
	hook, policy string
	uses         int // its rules, and the jumps to it
	counts       bool
	packets      uint64
}

func parseChain(body []byte) chain {
	var c chain
	for kind, value := range attributes(body, nfgenSize) {
		switch kind {
		case unix.NFTA_CHAIN_TABLE:
			c.listed.Table = word(value)
		case unix.NFTA_CHAIN_NAME:
			c.listed.Chain = word(value)
		case unix.NFTA_CHAIN_TYPE:
			c.listed.Type = word(value)
		case unix.NFTA_CHAIN_HOOK:
			c.hook = hookName(body, value)
		case unix.NFTA_CHAIN_POLICY:
			c.policy = verdictName(int32(big32(value)), "")
		case unix.NFTA_CHAIN_USE:
			c.uses = int(big32(value))
		case unix.NFTA_CHAIN_COUNTERS:
			c.counts, c.packets = true, counted(value)
		}
	}
	c.name = family(body) + " " + c.listed.Table + " " + c.listed.Chain
	return c
}

// rule is what a message reports of one.
type rule struct {
	chain   string
	handle  uint64
	fate    string // "drop", "jump DOCKER", "masq"; "" where the next rule follows
	counts  bool
	random  bool // it takes packets by chance
	packets uint64
}

func parseRule(body []byte) rule {
	var r rule
	table, chain := "", ""
	for kind, value := range attributes(body, nfgenSize) {
		switch kind {
		case unix.NFTA_RULE_TABLE:
			table = word(value)
		case unix.NFTA_RULE_CHAIN:
			chain = word(value)
		case unix.NFTA_RULE_HANDLE:
			r.handle = big64(value)
		case unix.NFTA_RULE_EXPRESSIONS:
			for _, expression := range attributes(value, 0) {
				r.add(expression)
			}
		}
	}
	r.chain = family(body) + " " + table + " " + chain
	return r
}

// add takes one expression of a rule: its counter, or what becomes of the
// packet.
func (r *rule) add(expression []byte) {
	name, data := "", []byte(nil)
	for kind, value := range attributes(expression, 0) {
		switch kind {
		case unix.NFTA_EXPR_NAME:
			name = word(value)
		case unix.NFTA_EXPR_DATA:
			data = value
		}
	}
	switch name {
	case "counter":
		r.counts, r.packets = true, counted(data)
	case "immediate":
		if fate := verdict(data); fate != "" {
			r.fate = fate
		}
	case "numgen":
		r.random = true
	case "match": // of iptables
		for kind, value := range attributes(data, 0) {
			r.random = r.random || kind == unix.NFTA_MATCH_NAME && word(value) == "statistic"
		}
	case "reject", "masq", "nat", "redir", "notrack":
		r.fate = name
	case "target": // of iptables
		for kind, value := range attributes(data, 0) {
			if kind == unix.NFTA_TARGET_NAME {
				r.fate = word(value)
			}
		}
	}
}

// counted is the number of packets of a counter.
func counted(counter []byte) uint64 {
	for kind, value := range attributes(counter, 0) {
		if kind == unix.NFTA_COUNTER_PACKETS {
			return big64(value)
		}
	}
	return 0
}

// verdict is what an immediate expression decides; "" where it only loads a
// register.
func verdict(immediate []byte) string {
	for kind, data := range attributes(immediate, 0) {
		if kind != unix.NFTA_IMMEDIATE_DATA {
			continue
		}
		for kind, decided := range attributes(data, 0) {
			if kind != unix.NFTA_DATA_VERDICT {
				continue
			}
			code, to := int32(0), ""
			for kind, value := range attributes(decided, 0) {
				switch kind {
				case unix.NFTA_VERDICT_CODE:
					code = int32(big32(value))
				case unix.NFTA_VERDICT_CHAIN:
					to = " " + word(value)
				}
			}
			return verdictName(code, to)
		}
	}
	return ""
}

func verdictName(code int32, to string) string {
	switch code {
	case 0: // NF_DROP
		return "drop"
	case 1: // NF_ACCEPT
		return "accept"
	case unix.NFT_JUMP:
		return "jump" + to
	case unix.NFT_GOTO:
		return "goto" + to
	case unix.NFT_RETURN:
		return "return"
	}
	return strconv.Itoa(int(code))
}

// family names the address family that a message begins with.
func family(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	switch body[0] {
	case unix.NFPROTO_INET:
		return "inet"
	case unix.NFPROTO_IPV4:
		return "ip"
	case unix.NFPROTO_IPV6:
		return "ip6"
	case unix.NFPROTO_ARP:
		return "arp"
	case unix.NFPROTO_BRIDGE:
		return "bridge"
	case unix.NFPROTO_NETDEV:
		return "netdev"
	}
	return strconv.Itoa(int(body[0]))
}

// hookName names the hook of a chain; those of netdev and arp have a few of
// their own.
func hookName(body, hook []byte) string {
	names := []string{"prerouting", "input", "forward", "output", "postrouting"}
	switch family(body) {
	case "netdev":
		names = []string{"ingress", "egress"}
	case "arp":
		names = []string{"input", "output", "forward"}
	}
	for kind, value := range attributes(hook, 0) {
		if n := big32(value); kind == unix.NFTA_HOOK_HOOKNUM && int64(n) < int64(len(names)) {
			return names[n]
		}
	}
	return "unknown"
}
