package kinds

import (
	"errors"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"tare/engine"
	"tare/lab"
	"tare/network"
)

// nat is a bridge behind the host's address: packets that leave are masqueraded,
// and published ports are forwarded to containers, as by Docker.
func nat() network.Network {
	return network.Network{
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			b := network.OwnSubnet(cluster.Spec.MTU)
			if err := network.EachHost(cluster, func(h *lab.Host) error { return errors.Join(b.SetUp(h), setUpNAT(h)) }); err != nil {
				return err
			}
			return setup.Populate(cluster, func(c *lab.Container) error {
				if err := b.Plug(c); err != nil {
					return err
				}
				return publish(c, setup.Published(c))
			})
		},
	}
}

// natTables are a host's tables of NAT rules, one for each version of IP that it has.
func natTables(h *lab.Host) []*nftables.Table {
	all := []*nftables.Table{{Family: nftables.TableFamilyIPv4, Name: "tare"}}
	if h.At().Is6() {
		all = append(all, &nftables.Table{Family: nftables.TableFamilyIPv6, Name: "tare"})
	}
	return all
}

// publishing is the chain for published ports.
func publishing(table *nftables.Table) *nftables.Chain {
	return &nftables.Chain{
		Name: "prerouting", Table: table, Type: nftables.ChainTypeNAT,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityNATDest,
	}
}

func setUpNAT(h *lab.Host) error {
	return h.Nftables(func(conn *nftables.Conn) {
		for _, table := range natTables(h) {
			conn.AddTable(table)
			after := conn.AddChain(&nftables.Chain{
				Name: "postrouting", Table: table, Type: nftables.ChainTypeNAT,
				Hooknum: nftables.ChainHookPostrouting, Priority: nftables.ChainPriorityNATSource,
			})
			conn.AddRule(&nftables.Rule{Table: table, Chain: after, Exprs: masquerade(h, table.Family)})
			conn.AddChain(publishing(table))
		}
	})
}

// publish adds a rule for each published port of a container.
func publish(c *lab.Container, ports []engine.Port) error {
	if len(ports) == 0 {
		return nil
	}
	for _, table := range natTables(c.Host) {
		before := publishing(table)
		c.Detach.Push(func() error { return c.Host.DropRules(before, c.Short) })
		err := c.Host.Nftables(func(conn *nftables.Conn) {
			for _, port := range ports {
				conn.AddRule(&nftables.Rule{Table: table, Chain: before, Exprs: publishOne(c, port, table.Family), UserData: []byte(c.Short)})
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// masquerade is: ip saddr SUBNET oifname != "br0" masquerade, or the same of ip6.
func masquerade(h *lab.Host, family nftables.TableFamily) []expr.Any {
	subnet, source := h.Subnet(), uint32(12) // where the header has the source
	if family == nftables.TableFamilyIPv6 {
		subnet, source = lab.IPv6PrefixOf(subnet), 8
	}
	prefix := subnet.Addr().AsSlice()[:subnet.Bits()/8]
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: source, Len: uint32(len(prefix))},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: prefix},
		&expr.Meta{Key: expr.MetaKeyOIFNAME, Register: 1},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: network.InterfaceName(network.BridgeName)},
		&expr.Masq{},
	}
}

// publishOne is: iifname != "br0" PROTOCOL dport PORT dnat to CONTAINER:PORT.
func publishOne(c *lab.Container, port engine.Port, family nftables.TableFamily) []expr.Any {
	container, protocol := c.Addr, byte(unix.IPPROTO_TCP)
	if port.Protocol == "udp" {
		protocol = unix.IPPROTO_UDP
	}
	if family == nftables.TableFamilyIPv6 {
		container = lab.IPv6Of(container)
	}
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: 1},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: network.InterfaceName(network.BridgeName)},
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{protocol}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(port.Host)},
		&expr.Immediate{Register: 1, Data: container.AsSlice()},
		&expr.Immediate{Register: 2, Data: binaryutil.BigEndian.PutUint16(port.Container)},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: uint32(family), RegAddrMin: 1, RegProtoMin: 2, Specified: true},
	}
}
