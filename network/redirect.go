package network

import (
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"tare/engine/servicemesh"
	"tare/lab"
)

// The marks of Istio's ambient mode, the table of routes for its answers and the place of its rule.
const (
	meshMask         = 0xfff
	fromRelay        = 0x111 // of connections that the relay made to the container
	fromRelayTable   = 100
	fromRelayAtPlace = 32764
)

// redirectToSidecar redirects a container's TCP connections to the relay in its namespace, by the
// rules of Istio's istio-init (tools/istio-iptables). Istio knows what the relay sends by its
// user, 1337; here a mark has that number, since an ordinary user's lab has one user.
func redirectToSidecar(ns *lab.Namespace) error {
	return ns.Nftables(func(conn *nftables.Conn) {
		table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "istio"})
		in := conn.AddChain(natChain(table, "prerouting", nftables.ChainHookPrerouting))
		out := conn.AddChain(natChain(table, "output", nftables.ChainHookOutput))
		add := func(chain *nftables.Chain, parts ...[]expr.Any) {
			conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: slices.Concat(parts...)})
		}
		add(in, tcp(), redirectTo(servicemesh.InboundPort))
		add(out, sourceIs(servicemesh.AppSource().As4()), sentBy("lo"), leave())
		// The container's own address, called by the relay: from a Service to itself.
		add(out, tcp(), destinationIsNot(loopback().As4()), sentBy("lo"), markIs(expr.CmpOpEq, servicemesh.Mark), redirectTo(servicemesh.InboundPort))
		add(out, sentBy("lo"), leave())
		add(out, markIs(expr.CmpOpEq, servicemesh.Mark), leave())
		add(out, tcp(), destinationIsNot(loopback().As4()), redirectTo(servicemesh.OutboundPort))
	})
}

// redirectToAmbient redirects a container's TCP connections to the sockets that the relay of its host
// has in its namespace, by the rules of Istio's istio-cni (cni/pkg/iptables). The relay calls the
// container from the other end's address: a mark of the connection brings the answers to the relay.
func redirectToAmbient(ns *lab.Namespace) error {
	if err := ns.KeepMarked(lab.Marked{Mark: fromRelay, Mask: meshMask}, fromRelayTable, fromRelayAtPlace); err != nil {
		return err
	}
	return ns.Nftables(func(conn *nftables.Conn) {
		table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "istio"})
		markIn := conn.AddChain(&nftables.Chain{
			Name: "mangle-prerouting", Table: table, Type: nftables.ChainTypeFilter,
			Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityMangle,
		})
		markOut := conn.AddChain(&nftables.Chain{
			Name: "mangle-output", Table: table, Type: nftables.ChainTypeRoute,
			Hooknum: nftables.ChainHookOutput, Priority: nftables.ChainPriorityMangle,
		})
		in := conn.AddChain(natChain(table, "prerouting", nftables.ChainHookPrerouting))
		out := conn.AddChain(natChain(table, "output", nftables.ChainHookOutput))
		add := func(chain *nftables.Chain, parts ...[]expr.Any) {
			conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: slices.Concat(parts...)})
		}
		add(markIn, markIs(expr.CmpOpEq, servicemesh.Mark), markConnection(fromRelay))
		add(markOut, restoreMark(fromRelay))
		add(in, tcp(), destinationIsNot(loopback().As4()), portIsNot(servicemesh.TunnelPort), markIs(expr.CmpOpNeq, servicemesh.Mark), redirectTo(servicemesh.InboundPort))
		add(out, tcp(), markIs(expr.CmpOpEq, fromRelay), leave())
		add(out, destinationIsNot(loopback().As4()), sentBy("lo"), leave())
		add(out, tcp(), destinationIsNot(loopback().As4()), markIs(expr.CmpOpNeq, servicemesh.Mark), redirectTo(servicemesh.OutboundPort))
	})
}

// natChain is a chain that rewrites destinations.
func natChain(table *nftables.Table, name string, at *nftables.ChainHook) *nftables.Chain {
	return &nftables.Chain{Name: name, Table: table, Type: nftables.ChainTypeNAT, Hooknum: at, Priority: nftables.ChainPriorityNATDest}
}

// tcp is: meta l4proto tcp.
func tcp() []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
	}
}

// sourceIs is: ip saddr ADDR.
func sourceIs(addr [4]byte) []expr.Any { return address(12, expr.CmpOpEq, addr) }

// destinationIsNot is: ip daddr != ADDR.
func destinationIsNot(addr [4]byte) []expr.Any { return address(16, expr.CmpOpNeq, addr) }

// address compares the address at an offset of the IPv4 header.
func address(offset uint32, op expr.CmpOp, addr [4]byte) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: 4},
		&expr.Cmp{Op: op, Register: 1, Data: addr[:]},
	}
}

// portIsNot is: th dport != PORT.
func portIsNot(port uint16) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: binaryutil.BigEndian.PutUint16(port)},
	}
}

// sentBy is: oifname DEVICE.
func sentBy(device string) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyOIFNAME, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: interfaceName(device)},
	}
}

// markIs is: meta mark & 0xfff == MARK, or != MARK.
func markIs(op expr.CmpOp, mark uint32) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyMARK, Register: 1}, mask(meshMask, 0),
		&expr.Cmp{Op: op, Register: 1, Data: binaryutil.NativeEndian.PutUint32(mark)},
	}
}

// markConnection is: ct mark set MARK.
func markConnection(mark uint32) []expr.Any {
	return []expr.Any{
		&expr.Immediate{Register: 1, Data: binaryutil.NativeEndian.PutUint32(mark)},
		&expr.Ct{Key: expr.CtKeyMARK, Register: 1, SourceRegister: true},
	}
}

// restoreMark is: ct mark & 0xfff == MARK meta mark set ct mark.
func restoreMark(mark uint32) []expr.Any {
	return []expr.Any{
		&expr.Ct{Key: expr.CtKeyMARK, Register: 1}, mask(meshMask, 0),
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.NativeEndian.PutUint32(mark)},
		&expr.Meta{Key: expr.MetaKeyMARK, Register: 1, SourceRegister: true},
	}
}

// leave is: accept, which in a chain that rewrites destinations leaves this one as it is.
func leave() []expr.Any { return []expr.Any{&expr.Verdict{Kind: expr.VerdictAccept}} }

// redirectTo is: counter redirect to :PORT.
func redirectTo(port uint16) []expr.Any {
	return []expr.Any{
		&expr.Counter{},
		&expr.Immediate{Register: 1, Data: binaryutil.BigEndian.PutUint16(port)},
		&expr.Redir{RegisterProtoMin: 1},
	}
}
