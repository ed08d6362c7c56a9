package network

import (
	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"tare/lab"
)

// nat is a bridge behind the host's address: what leaves is masqueraded, and
// the published port leads to the first container. It is what Docker does.
func nat() Network {
	return Network{
		Name:     "nat",
		Doc:      "bridge + nftables masquerade and DNAT of a published port (what Docker does)",
		Parent:   "bridge",
		Fidelity: SamePath,
		Paths:    []string{PublishedPort, ContainerToPublishedPort},
		Outside:  true,
		Missing:  "nftables with NAT",
		Get:      "modprobe nft_chain_nat nft_masq",
		Lay: func(u *lab.Underlay, l *Laying) error {
			if err := layBridge(u, l); err != nil {
				return err
			}
			return eachHost(u, layNAT)
		},
	}
}

func layNAT(h *lab.Host) error {
	return h.Nftables(func(conn *nftables.Conn) {
		table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "tare"})
		after := conn.AddChain(&nftables.Chain{
			Name: "postrouting", Table: table, Type: nftables.ChainTypeNAT,
			Hooknum: nftables.ChainHookPostrouting, Priority: nftables.ChainPriorityNATSource,
		})
		conn.AddRule(&nftables.Rule{Table: table, Chain: after, Exprs: masquerade(h)})
		before := conn.AddChain(&nftables.Chain{
			Name: "prerouting", Table: table, Type: nftables.ChainTypeNAT,
			Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityNATDest,
		})
		for _, protocol := range []byte{unix.IPPROTO_TCP, unix.IPPROTO_UDP} {
			conn.AddRule(&nftables.Rule{Table: table, Chain: before, Exprs: publish(h, protocol)})
		}
	})
}

// masquerade is: ip saddr SUBNET oifname != "br0" masquerade.
func masquerade(h *lab.Host) []expr.Any {
	subnet := h.Subnet().Addr().As4()
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: 12, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: subnet[:2]}, // a /16
		&expr.Meta{Key: expr.MetaKeyOIFNAME, Register: 1},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: interfaceName(bridgeName)},
		&expr.Masq{},
	}
}

// publish is: iifname != "br0" PROTOCOL dport PORT dnat to CONTAINER.
func publish(h *lab.Host, protocol byte) []expr.Any {
	container := h.ContainerAddr(1).As4()
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: 1},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: interfaceName(bridgeName)},
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{protocol}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(Port)},
		&expr.Immediate{Register: 1, Data: container[:]},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: unix.NFPROTO_IPV4, RegAddrMin: 1},
	}
}

// interfaceName is a device's name as the kernel compares it: 16 bytes.
func interfaceName(name string) []byte {
	padded := make([]byte, unix.IFNAMSIZ)
	copy(padded, name)
	return padded
}
