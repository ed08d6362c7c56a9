package network

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"tare/catalog"
	"tare/lab"
)

// Bits of the packet mark by which Felix's chains pass on the verdict.
const (
	markAccept = 0x10000
	markPass   = 0x20000
)

// policyBatch is the number of endpoints whose chains one transaction adds: the
// kernel acknowledges each rule, and more acknowledgements would not fit into a
// netlink socket of default size.
const policyBatch = 4

// endpointPort is the host's end of the n-th container's pair, from 1.
func endpointPort(n int) string { return fmt.Sprintf("veth-c%d", n) }

// Endpoints is the number of containers of each host that have policy chains from
// the start; 0: none, and containers that are attached later get none either.
type Endpoints int

// AddPolicies adds policy chains for each container, and further chains, which no
// packet passes, up to the number that the parameter sets.
func AddPolicies(cluster *lab.Cluster, setup *Setup) (Endpoints, error) {
	asked := setup.Params[catalog.Policies]
	count, err := strconv.Atoi(asked)
	switch {
	case asked == "" || err == nil && count == 0:
		return 0, nil
	case err != nil || count < 0 || count > catalog.MaxContainers:
		return 0, fmt.Errorf("add policies for %q endpoints: give a number up to %d", asked, catalog.MaxContainers)
	}
	count = max(count, setup.Containers)
	return Endpoints(count), EachHost(cluster, func(h *lab.Host) error {
		for _, p := range policiesOf(h) {
			if err := p.setUp(count); err != nil {
				return err
			}
		}
		return nil
	})
}

// Add adds the chains of a container that has none yet.
func (e Endpoints) Add(c *lab.Container) error {
	if e == 0 || c.Number <= int(e) {
		return nil
	}
	for _, p := range policiesOf(c.Host) {
		c.Detach.Push(func() error {
			return p.inOne(func(conn *nftables.Conn) error { return p.dropEndpoint(conn, c.Number) })
		})
		if err := p.inOne(func(conn *nftables.Conn) error { return p.addEndpoint(conn, c.Number) }); err != nil {
			return err
		}
	}
	return nil
}

// policies are the filter chains of one host, of one version of IP. Their shape and names are those
// of Felix in its nftables mode (felix/rules/static.go, dispatch.go and
// endpoints.go); we add them, not Felix.
//
//	cali-FORWARD                 by direction
//	  cali-from-wl-dispatch        by device, in a verdict map
//	    cali-fw-DEVICE               of the endpoint: what it sends
//	      cali-po-default              the policy: accept
//	  cali-to-wl-dispatch
//	    cali-tw-DEVICE               what it receives
//	      cali-pi-default
type policies struct {
	host  *lab.Host
	table *nftables.Table
}

func policiesOf(h *lab.Host) []policies {
	of := func(f family) policies {
		return policies{host: h, table: &nftables.Table{Family: f.table, Name: "tare"}}
	}
	all := []policies{of(familyIPv4())}
	if h.At().Is6() {
		all = append(all, of(familyIPv6()))
	}
	return all
}

// side is one direction of an endpoint's traffic.
type side struct {
	dispatch, verdicts, endpoint, policy string
	device                               expr.MetaKey
}

func sides() []side {
	return []side{
		{"cali-from-wl-dispatch", "cali-fw-dispatch", "cali-fw-", "cali-po-default", expr.MetaKeyIIFNAME},
		{"cali-to-wl-dispatch", "cali-tw-dispatch", "cali-tw-", "cali-pi-default", expr.MetaKeyOIFNAME},
	}
}

func (p policies) setUp(endpoints int) error {
	if err := p.inOne(p.addDispatch); err != nil {
		return err
	}
	for first := 1; first <= endpoints; first += policyBatch {
		err := p.inOne(func(conn *nftables.Conn) error {
			for n := first; n < min(first+policyBatch, endpoints+1); n++ {
				if err := p.addEndpoint(conn, n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// addEndpoint adds the chains of the n-th container, and directs its packets to
// them.
func (p policies) addEndpoint(conn *nftables.Conn, n int) error {
	for id, s := range sides() {
		p.addChains(conn, s, s.endpoint+endpointPort(n))
		if err := conn.SetAddElements(p.verdicts(s, id), s.element(n)); err != nil {
			return err
		}
	}
	return nil
}

// dropEndpoint removes what addEndpoint added.
func (p policies) dropEndpoint(conn *nftables.Conn, n int) error {
	for id, s := range sides() {
		if err := conn.SetDeleteElements(p.verdicts(s, id), s.element(n)); err != nil {
			return err
		}
		conn.DelChain(&nftables.Chain{Name: s.endpoint + endpointPort(n), Table: p.table})
	}
	return nil
}

// element maps the n-th container's device to its chain.
func (s side) element(n int) []nftables.SetElement {
	return []nftables.SetElement{{
		Key: InterfaceName(endpointPort(n)), VerdictData: verdict(expr.VerdictGoto, s.endpoint+endpointPort(n)),
	}}
}

// inOne runs add in one transaction.
func (p policies) inOne(add func(*nftables.Conn) error) error {
	var errAdd error
	err := p.host.Nftables(func(conn *nftables.Conn) {
		conn.AddTable(p.table)
		errAdd = add(conn)
	})
	return errors.Join(errAdd, err)
}

// verdicts is the map from a device to the chain of its endpoint. We set
// its ID: the library's own counter is shared by all threads.
func (p policies) verdicts(s side, id int) *nftables.Set {
	return &nftables.Set{
		Table: p.table, Name: s.verdicts, ID: uint32(id + 1),
		KeyType: nftables.TypeIFName, DataType: nftables.TypeVerdict, IsMap: true,
		KeyByteOrder: binaryutil.NativeEndian, // else nft shows no names
	}
}

// rule appends a rule that counts what it matches, as each of Felix's does.
func (p policies) rule(conn *nftables.Conn, chain string, match []expr.Any, then ...expr.Any) {
	exprs := append(append(match, &expr.Counter{}), then...)
	conn.AddRule(&nftables.Rule{Table: p.table, Chain: &nftables.Chain{Name: chain}, Exprs: exprs})
}

// addPolicy adds the policy of one direction: it accepts everything.
func (p policies) addPolicy(conn *nftables.Conn, s side) {
	conn.AddChain(&nftables.Chain{Name: s.policy, Table: p.table})
	p.rule(conn, s.policy, nil, setMark(0, markAccept)...)
	p.rule(conn, s.policy, marked(expr.CmpOpNeq, markAccept), verdict(expr.VerdictReturn, ""))
}

// addChains adds an endpoint's chains of one direction. The packets of an
// established connection pass only the first rule.
func (p policies) addChains(conn *nftables.Conn, s side, chain string) {
	drop, back := verdict(expr.VerdictDrop, ""), verdict(expr.VerdictReturn, "")
	conn.AddChain(&nftables.Chain{Name: chain, Table: p.table})
	p.rule(conn, chain, inState(expr.CtStateBitRELATED|expr.CtStateBitESTABLISHED), verdict(expr.VerdictAccept, ""))
	p.rule(conn, chain, inState(expr.CtStateBitINVALID), drop)
	p.rule(conn, chain, nil, setMark(markAccept|markPass, 0)...)
	if s.device == expr.MetaKeyIIFNAME { // containers must not send encapsulated packets
		p.rule(conn, chain, append(ofProtocol(unix.IPPROTO_UDP),
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(VXLANPort)}), drop)
		p.rule(conn, chain, ofProtocol(unix.IPPROTO_IPIP), drop)
	}
	p.rule(conn, chain, nil, setMark(markPass, 0)...)
	p.rule(conn, chain, marked(expr.CmpOpEq, markPass), verdict(expr.VerdictJump, s.policy))
	p.rule(conn, chain, marked(expr.CmpOpNeq, markAccept), back)
	p.rule(conn, chain, marked(expr.CmpOpEq, markPass), drop)
}

// addDispatch directs the packets of every endpoint to its chains, and drops those
// of unknown devices.
func (p policies) addDispatch(conn *nftables.Conn) error {
	forward := conn.AddChain(&nftables.Chain{
		Name: "cali-FORWARD", Table: p.table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter,
	})
	p.rule(conn, forward.Name, nil, setMark(markAccept|markPass, 0)...)
	for id, s := range sides() {
		p.addPolicy(conn, s)
		set := p.verdicts(s, id)
		if err := conn.AddSet(set, nil); err != nil {
			return err
		}
		dispatch := conn.AddChain(&nftables.Chain{Name: s.dispatch, Table: p.table})
		conn.AddRule(&nftables.Rule{Table: p.table, Chain: dispatch, Exprs: []expr.Any{
			&expr.Meta{Key: s.device, Register: 1},
			&expr.Lookup{SourceRegister: 1, IsDestRegSet: true, SetName: set.Name, SetID: set.ID},
		}})
		p.rule(conn, s.dispatch, nil, verdict(expr.VerdictDrop, ""))
		p.rule(conn, forward.Name, []expr.Any{
			&expr.Meta{Key: s.device, Register: 1},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte("veth-")}, // a prefix: matches every name that begins with it
		}, verdict(expr.VerdictJump, s.dispatch))
	}
	p.rule(conn, forward.Name, marked(expr.CmpOpNeq, markAccept), verdict(expr.VerdictAccept, ""))
	return nil
}

func verdict(kind expr.VerdictKind, chain string) *expr.Verdict {
	return &expr.Verdict{Kind: kind, Chain: chain}
}

// inState is: ct state STATES.
func inState(states uint32) []expr.Any {
	return []expr.Any{&expr.Ct{Key: expr.CtKeySTATE, Register: 1}, mask(states, 0), isZero(expr.CmpOpNeq)}
}

// marked is: meta mark and BITS == 0, or != 0.
func marked(op expr.CmpOp, bits uint32) []expr.Any {
	return []expr.Any{&expr.Meta{Key: expr.MetaKeyMARK, Register: 1}, mask(bits, 0), isZero(op)}
}

// setMark clears and sets bits of the packet mark.
func setMark(clear, set uint32) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyMARK, Register: 1}, mask(^(clear | set), set),
		&expr.Meta{Key: expr.MetaKeyMARK, SourceRegister: true, Register: 1},
	}
}

// mask is: register & AND ^ XOR, on a number in the kernel's own byte order.
func mask(and, xor uint32) expr.Any {
	return &expr.Bitwise{
		SourceRegister: 1, DestRegister: 1, Len: 4,
		Mask: binaryutil.NativeEndian.PutUint32(and), Xor: binaryutil.NativeEndian.PutUint32(xor),
	}
}

func isZero(op expr.CmpOp) expr.Any { return &expr.Cmp{Op: op, Register: 1, Data: make([]byte, 4)} }

// ofProtocol is: meta l4proto PROTOCOL.
func ofProtocol(protocol byte) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{protocol}},
	}
}

// VXLANPort is the UDP port of VXLAN (RFC 7348).
const VXLANPort = 4789
