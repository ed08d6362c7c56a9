package network

import (
	"errors"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"tare/engine"
	"tare/lab"
)

// nat is a bridge behind the host's address: packets that leave are masqueraded,
// and published ports are forwarded to containers, as by Docker.
func nat() Network {
	return Network{
		Name:     "nat",
		Doc:      "bridge + nftables masquerade and DNAT of a published port (what Docker does)",
		Parent:   "bridge",
		Facts:    Facts{NAT: true},
		Fidelity: SamePath,
		Paths:    []string{PublishedPort, ContainerToPublishedPort},
		Outside:  true,
		Missing:  "nftables with NAT",
		Get:      "modprobe nft_chain_nat nft_masq",
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			b := ownSubnet(cluster.Spec.MTU)
			if err := eachHost(cluster, func(h *lab.Host) error { return errors.Join(b.setUp(h), setUpNAT(h)) }); err != nil {
				return err
			}
			return setup.populate(cluster, func(c *lab.Container) error {
				if err := b.plug(c); err != nil {
					return err
				}
				return publish(c, setup.published(c))
			})
		},
	}
}

// The table of NAT rules, and its chain for published ports.
func natTable() *nftables.Table {
	return &nftables.Table{Family: nftables.TableFamilyIPv4, Name: "tare"}
}

func publishing(table *nftables.Table) *nftables.Chain {
	return &nftables.Chain{
		Name: "prerouting", Table: table, Type: nftables.ChainTypeNAT,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityNATDest,
	}
}

func setUpNAT(h *lab.Host) error {
	return h.Nftables(func(conn *nftables.Conn) {
		table := conn.AddTable(natTable())
		after := conn.AddChain(&nftables.Chain{
			Name: "postrouting", Table: table, Type: nftables.ChainTypeNAT,
			Hooknum: nftables.ChainHookPostrouting, Priority: nftables.ChainPriorityNATSource,
		})
		conn.AddRule(&nftables.Rule{Table: table, Chain: after, Exprs: masquerade(h)})
		conn.AddChain(publishing(table))
	})
}

// publish adds a rule for each published port of a container.
func publish(c *lab.Container, ports []engine.Port) error {
	if len(ports) == 0 {
		return nil
	}
	table := natTable()
	before := publishing(table)
	c.Detach.Push(func() error { return c.Host.DropRules(before, c.Short) })
	return c.Host.Nftables(func(conn *nftables.Conn) {
		for _, port := range ports {
			conn.AddRule(&nftables.Rule{Table: table, Chain: before, Exprs: publishOne(c, port), UserData: []byte(c.Short)})
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

// publishOne is: iifname != "br0" PROTOCOL dport PORT dnat to CONTAINER:PORT.
func publishOne(c *lab.Container, port engine.Port) []expr.Any {
	container, protocol := c.Addr.As4(), byte(unix.IPPROTO_TCP)
	if port.Protocol == "udp" {
		protocol = unix.IPPROTO_UDP
	}
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: 1},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: interfaceName(bridgeName)},
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{protocol}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(port.Host)},
		&expr.Immediate{Register: 1, Data: container[:]},
		&expr.Immediate{Register: 2, Data: binaryutil.BigEndian.PutUint16(port.Container)},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: unix.NFPROTO_IPV4, RegAddrMin: 1, RegProtoMin: 2, Specified: true},
	}
}

// interfaceName is a device's name in the form that the kernel compares: 16 bytes.
func interfaceName(name string) []byte {
	padded := make([]byte, unix.IFNAMSIZ)
	copy(padded, name)
	return padded
}
