package kinds

import (
	"errors"
	"net"
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
	"tare/network"
)

// macnat is bridge-vlan behind one MAC address per host, for switches and clouds
// that allow one for each port. A rule per container replaces the container's
// address by the host's on the way out, and the host's by the container's, which
// the IP address determines, on the way in.
func macnat() network.Network {
	return network.Network{
		Needs: append(needsVLAN(), needsBridgeRules()),
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			if err := setUpVLANBridges(cluster, setup); err != nil {
				return err
			}
			if err := network.EachHost(cluster, setUpMACNAT); err != nil {
				return err
			}
			b := oneSubnet(cluster.Spec.MTU)
			return setup.Populate(cluster, func(c *lab.Container) error {
				if err := b.Plug(c); err != nil {
					return err
				}
				c.Detach.Push(func() error { return macNATOf(c.Host).drop(c.Short) })
				return macNATOf(c.Host).add(c.Addr, c.Short)
			})
		},
		Ends: lastEnds,
	}
}

// needsBridgeRules asks for a chain of nftables on bridged packets.
func needsBridgeRules() engine.Need {
	return network.KernelNeed("nftables rules of bridges", "modprobe nft_meta_bridge", func(ns *lab.Namespace) error {
		return ns.Nftables(func(conn *nftables.Conn) {
			table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyBridge, Name: "try"})
			conn.AddChain(&nftables.Chain{
				Name: "try", Table: table, Type: nftables.ChainTypeFilter,
				Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityFilter,
			})
		})
	})
}

// lastEnds are the containers whose rule comes last, on the paths that pass the
// rules.
func lastEnds(cluster *lab.Cluster, path string) (network.Ends, error) {
	ends, err := network.UsualEnds(cluster, path)
	if err != nil || path == catalog.SameHost {
		return ends, err
	}
	last := func(h *lab.Host) *lab.Container { all := h.Containers(); return all[len(all)-1] }
	server := last(cluster.Hosts[1])
	ends.Server, ends.Bind, ends.Dial = server.Host.Short+"/"+server.Short, server.Addr, server.Addr
	if path == catalog.CrossHost {
		ends.Client = cluster.Hosts[0].Short + "/" + last(cluster.Hosts[0]).Short
	}
	return ends, nil
}

// Priorities of rewriting on bridges (linux/netfilter_bridge.h, enum
// nf_br_hook_priorities).
const (
	bridgeNATDest   = -300
	bridgeNATSource = 300
)

// macNAT is the table that rewrites the frames on a host's uplink.
type macNAT struct {
	host         *lab.Host
	table        *nftables.Table
	out, arp, in *nftables.Chain
}

func macNATOf(h *lab.Host) macNAT {
	table := &nftables.Table{Family: nftables.TableFamilyBridge, Name: "macnat"}
	return macNAT{
		host: h, table: table,
		out: &nftables.Chain{
			Name: "postrouting", Table: table, Type: nftables.ChainTypeFilter,
			Hooknum: nftables.ChainHookPostrouting, Priority: nftables.ChainPriorityRef(bridgeNATSource),
		},
		arp: &nftables.Chain{Name: "arp", Table: table},
		in: &nftables.Chain{
			Name: "prerouting", Table: table, Type: nftables.ChainTypeFilter,
			Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityRef(bridgeNATDest),
		},
	}
}

// setUpMACNAT adds the table, with the host's own address on the bridge as the
// first of those rewritten.
func setUpMACNAT(h *lab.Host) error {
	m := macNATOf(h)
	err := h.Nftables(func(conn *nftables.Conn) {
		conn.AddTable(m.table)
		for _, chain := range []*nftables.Chain{m.out, m.arp, m.in} {
			conn.AddChain(chain)
		}
		conn.AddRule(&nftables.Rule{Table: m.table, Chain: m.out, Exprs: hideSender(lab.MAC(h.Addr))})
		conn.AddRule(&nftables.Rule{Table: m.table, Chain: m.in, Exprs: toARP(m.arp)})
	})
	if err != nil {
		return err
	}
	return m.add(overlayAddr(h, 1), h.Short)
}

// add adds the rules of an address, marked with its owner's name.
func (m macNAT) add(addr netip.Addr, owner string) error {
	return m.host.Nftables(func(conn *nftables.Conn) {
		for _, rule := range []nftables.Rule{
			{Chain: m.out, Exprs: hide(lab.MAC(addr), lab.MAC(m.host.Addr))},
			{Chain: m.in, Exprs: find(unix.ETH_P_IP, ipDestination(), addr, etherDestination())},
			{Chain: m.arp, Exprs: find(unix.ETH_P_ARP, arpTarget(), addr, etherDestination(), arpTargetMAC())},
		} {
			rule.Table, rule.UserData = m.table, []byte(owner)
			conn.AddRule(&rule)
		}
	})
}

// drop removes the rules of an owner.
func (m macNAT) drop(owner string) error {
	return errors.Join(m.host.DropRules(m.out, owner), m.host.DropRules(m.in, owner), m.host.DropRules(m.arp, owner))
}

// field is a part of a header: its offset and its length in bytes.
type field struct {
	base        expr.PayloadBase
	offset, len uint32
}

func etherDestination() field { return field{expr.PayloadBaseLLHeader, 0, 6} }
func etherSource() field      { return field{expr.PayloadBaseLLHeader, 6, 6} }
func ipDestination() field    { return field{expr.PayloadBaseNetworkHeader, 16, 4} }

// Of ARP for IPv4 on Ethernet (RFC 826).
func arpSenderMAC() field { return field{expr.PayloadBaseNetworkHeader, 8, 6} }
func arpTargetMAC() field { return field{expr.PayloadBaseNetworkHeader, 18, 6} }
func arpTarget() field    { return field{expr.PayloadBaseNetworkHeader, 24, 4} }

func (f field) is(value []byte) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: 1, Base: f.base, Offset: f.offset, Len: f.len},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: value},
	}
}

func (f field) set(value []byte) []expr.Any {
	return []expr.Any{
		&expr.Immediate{Register: 1, Data: value},
		&expr.Payload{OperationType: expr.PayloadWrite, SourceRegister: 1, Base: f.base, Offset: f.offset, Len: f.len},
	}
}

// passes is: KEY "eth0.701" meta protocol PROTOCOL.
func passes(key expr.MetaKey, protocol uint16) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: key, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: network.InterfaceName(vlanDevice)},
		&expr.Meta{Key: expr.MetaKeyPROTOCOL, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(protocol)},
	}
}

// hideSender is: oifname "eth0.701" ether type arp arp saddr ether set HOST.
func hideSender(host net.HardwareAddr) []expr.Any {
	return append(passes(expr.MetaKeyOIFNAME, unix.ETH_P_ARP), arpSenderMAC().set(host)...)
}

// hide is: oifname "eth0.701" ether saddr OWN ether saddr set HOST accept.
func hide(own, host net.HardwareAddr) []expr.Any {
	exprs := passes(expr.MetaKeyOIFNAME, 0)[:2]
	exprs = append(exprs, etherSource().is(own)...)
	exprs = append(exprs, etherSource().set(host)...)
	return append(exprs, &expr.Verdict{Kind: expr.VerdictAccept})
}

// toARP is: iifname "eth0.701" ether type arp goto arp.
func toARP(arp *nftables.Chain) []expr.Any {
	return append(passes(expr.MetaKeyIIFNAME, unix.ETH_P_ARP), &expr.Verdict{Kind: expr.VerdictGoto, Chain: arp.Name})
}

// find is: iifname "eth0.701" ether type PROTOCOL, and the field that names the
// owner is ADDR: ether daddr set OWN accept. ARP holds the address a second time.
func find(protocol uint16, owner field, addr netip.Addr, macs ...field) []expr.Any {
	b := addr.As4()
	exprs := append(passes(expr.MetaKeyIIFNAME, protocol), owner.is(b[:])...)
	for _, mac := range macs {
		exprs = append(exprs, mac.set(lab.MAC(addr))...)
	}
	return append(exprs, &expr.Verdict{Kind: expr.VerdictAccept})
}
