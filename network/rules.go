package network

import (
	"fmt"
	"strconv"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"tare/lab"
)

// unusedPort is the destination of the first rule that matches nothing; each
// further rule has the next.
const unusedPort = 40000

// layRules lays rules on the host's way in, out and through that every packet
// passes and none matches, as a policy of many services does.
func layRules(h *lab.Host, count string) error {
	rules, err := strconv.Atoi(count)
	if count == "" || err == nil && rules == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("lay rules in %s: %w", h.Name, err)
	}
	return h.Nftables(func(conn *nftables.Conn) {
		table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "tare-rules"})
		for name, hook := range map[string]*nftables.ChainHook{
			"input": nftables.ChainHookInput, "forward": nftables.ChainHookForward, "output": nftables.ChainHookOutput,
		} {
			chain := conn.AddChain(&nftables.Chain{
				Name: name, Table: table, Type: nftables.ChainTypeFilter, Hooknum: hook, Priority: nftables.ChainPriorityFilter,
			})
			for n := range rules {
				conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: dropUnused(uint16(unusedPort + n%20000))})
			}
		}
	})
}

// dropUnused is: th dport PORT meta l4proto udplite drop. Nothing here sends
// UDP-Lite, so a port that happens to match is not dropped either.
func dropUnused(port uint16) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(port)},
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_UDPLITE}},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}
}
