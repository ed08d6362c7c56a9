package network

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
	"tare/wire"
)

// unusedPort is the destination port of the first rule, which matches nothing. Each
// further rule has the next port.
const unusedPort = 40000

// addRules adds rules to the input, output and forward hooks of a host. Every
// routed packet passes them and none matches, as with the policies of many
// services. Bridged packets pass them if br_netfilter is on.
func addRules(h *lab.Host, setup *Setup) error {
	count := setup.Params[catalog.Rules]
	rules, err := strconv.Atoi(count)
	switch {
	case count == "" || err == nil && rules == 0:
		return nil
	case err != nil:
		return fmt.Errorf("add rules in %s: %w", h.Name, err)
	case setup.Params[catalog.RulesBy] == catalog.ByIptables:
		return addIptables(h, rules, setup)
	}
	return addNftables(h, rules)
}

// rulesAtOnce is the number of rules that one transaction adds: the kernel's
// acknowledgements must fit into the socket's buffer.
const rulesAtOnce = 50

// addNftables adds one chain with the rules, and a jump to it at every hook.
func addNftables(h *lab.Host, rules int) error {
	table := &nftables.Table{Family: nftables.TableFamilyIPv4, Name: "tare-rules"}
	every := &nftables.Chain{Name: "every", Table: table}
	for first := 0; first < rules; first += rulesAtOnce {
		err := h.Nftables(func(conn *nftables.Conn) {
			conn.AddTable(table)
			conn.AddChain(every)
			for n := first; n < min(first+rulesAtOnce, rules); n++ {
				conn.AddRule(&nftables.Rule{Table: table, Chain: every, Exprs: dropUnused(uint16(unusedPort + n%20000))})
			}
		})
		if err != nil {
			return err
		}
	}
	return h.Nftables(func(conn *nftables.Conn) {
		for name, hook := range map[string]*nftables.ChainHook{
			"input": nftables.ChainHookInput, "forward": nftables.ChainHookForward, "output": nftables.ChainHookOutput,
		} {
			chain := conn.AddChain(&nftables.Chain{
				Name: name, Table: table, Type: nftables.ChainTypeFilter, Hooknum: hook, Priority: nftables.ChainPriorityFilter,
			})
			conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{&expr.Verdict{Kind: expr.VerdictJump, Chain: every.Name}}})
		}
	})
}

// addIptables adds the rules by the machine's iptables, before all existing rules.
func addIptables(h *lab.Host, rules int, setup *Setup) error {
	var text strings.Builder
	text.WriteString("*filter\n:TARE - [0:0]\n")
	for n := range rules {
		fmt.Fprintf(&text, "-A TARE -d %s -j DROP\n", unusedAddr(n))
	}
	text.WriteString("-I INPUT -j TARE\n-I FORWARD -j TARE\n-I OUTPUT -j TARE\nCOMMIT\n")
	if err := RestoreIptables(h, wire.IPv4, "rules", text.String()); err != nil {
		return err
	}
	need := IptablesRestore(wire.IPv4)
	versions, err := engine.Versions(h, []engine.Need{need})
	setup.Part()[catalog.ByIptables] = versions[need.What]
	return err
}

// IptablesRestore is the program that adds many rules of iptables at once.
func IptablesRestore(ip wire.IP) engine.Need {
	if ip == wire.IPv6 {
		return engine.NeedProgram("ip6tables-restore", "iptables", "--version")
	}
	return engine.NeedProgram("iptables-restore", "iptables", "--version")
}

// RulesWait is how long a program may take to add rules.
const RulesWait = 3 * time.Minute

// RestoreIptables adds rules by the machine's iptables to those that there are.
func RestoreIptables(h *lab.Host, ip wire.IP, name, text string) error {
	path, err := IptablesRestore(ip).Require()
	if err != nil {
		return err
	}
	file := lab.Scratch + "/" + name
	if err := h.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	_, err = h.RunWithin(RulesWait, path, "--noflush", file)
	return err
}

// unusedAddr is the n-th address of 198.18.0.0/15, which no lab uses (RFC 2544).
func unusedAddr(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{198, byte(18 + n>>16&1), byte(n >> 8), byte(n)})
}

// dropUnused is: th dport PORT meta l4proto udplite drop. Nothing here sends
// UDP-Lite, so packets to a port that happens to match are not dropped either.
func dropUnused(port uint16) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(port)},
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_UDPLITE}},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}
}
