package probe

import (
	"iter"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tare/firewall"
)

// chain is what a message reports of one.
type chain struct {
	name         string // "ip filter FORWARD"
	listed       Chain  // without its number of rules
	hook, policy string
	device       string
	priority     int
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
			c.addHook(body, value)
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

// Of nftables, where package unix has no names.
const (
	hookDevices  = 4 // NFTA_HOOK_DEVS
	devicePrefix = 2 // NFTA_DEVICE_PREFIX
)

// addHook takes the hook of a chain, its priority and its device.
func (c *chain) addHook(body, hook []byte) {
	c.hook = hookName(body, hook)
	for kind, value := range attributes(hook, 0) {
		switch kind {
		case unix.NFTA_HOOK_PRIORITY:
			c.priority = int(int32(big32(value)))
		case unix.NFTA_HOOK_DEV:
			c.device = word(value)
		case hookDevices:
			var all []string
			for kind, name := range attributes(value, 0) {
				all = append(all, word(name)+map[bool]string{true: "*"}[kind == devicePrefix])
			}
			c.device = strings.Join(all, ", ")
		}
	}
}

// rule is what a message reports of one.
type rule struct {
	chain       string
	handle      uint64
	fate        string // "drop", "jump DOCKER", "masq"; "" where the next rule follows
	counts      bool
	packets     uint64
	family      string
	table       string
	expressions []byte
}

func parseRule(body []byte) rule {
	var r rule
	chain := ""
	for kind, value := range attributes(body, nfgenSize) {
		switch kind {
		case unix.NFTA_RULE_TABLE:
			r.table = word(value)
		case unix.NFTA_RULE_CHAIN:
			chain = word(value)
		case unix.NFTA_RULE_HANDLE:
			r.handle = big64(value)
		case unix.NFTA_RULE_EXPRESSIONS:
			r.expressions = value
		}
	}
	r.family = family(body)
	r.chain = r.family + " " + r.table + " " + chain
	for name, data := range expressions(r.expressions) {
		r.add(name, data)
	}
	return r
}

// expressions walks over those of a rule.
func expressions(list []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, expression := range attributes(list, 0) {
			name, data := "", []byte(nil)
			for kind, value := range attributes(expression, 0) {
				switch kind {
				case unix.NFTA_EXPR_NAME:
					name = word(value)
				case unix.NFTA_EXPR_DATA:
					data = value
				}
			}
			if !yield(name, data) {
				return
			}
		}
	}
}

// add takes of one expression the counter, or what becomes of the packet.
func (r *rule) add(name string, data []byte) {
	switch name {
	case "counter":
		r.counts, r.packets = true, counted(data)
	case "immediate":
		if fate := verdict(data); fate != "" {
			r.fate = fate
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

// decode reads all that a rule matches and does.
func (r *rule) decode(sets map[string]*set, names map[uint32]string) firewall.Rule {
	d := decoder{sets: sets, names: names, family: r.family, table: r.table, slots: map[int]operand{}}
	if strings.HasPrefix(r.family, "ip") {
		d.network = r.family
	}
	for name, data := range expressions(r.expressions) {
		d.add(name, data)
	}
	return d.rule
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
	return decided(nested(nested(immediate)[unix.NFTA_IMMEDIATE_DATA])[unix.NFTA_DATA_VERDICT])
}

// decided is a verdict; "": there is none.
func decided(data []byte) string {
	if data == nil {
		return ""
	}
	a, to := nested(data), ""
	if chain := a[unix.NFTA_VERDICT_CHAIN]; chain != nil {
		to = " " + word(chain)
	}
	return verdictName(int32(big32(a[unix.NFTA_VERDICT_CODE])), to)
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
	case unix.NFT_CONTINUE:
		return "continue"
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
	names := []string{"prerouting", "input", "forward", "output", "postrouting", "ingress"}
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
