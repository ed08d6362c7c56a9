package network

import (
	"errors"
	"net/netip"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

	"tare/lab"
)

// AddNeighbours sets the MAC addresses of all other hosts on every host. All
// namespaces of a machine share one neighbour table, of 1024 entries by default
// (gc_thresh3), which a mesh of 33 hosts fills; permanent entries don't count
// (Linux 5.0).
func AddNeighbours(cluster *lab.Cluster) error {
	return EachHost(cluster, func(h *lab.Host) error {
		return EachOther(cluster, h, func(other *lab.Host) error {
			return h.AddNeighbour(lab.Device, other.Addr, lab.MAC(other.Addr))
		})
	})
}

// AddPool prepares the hosts for containers, and masquerades what leaves the pool
// of all containers' addresses.
func AddPool(cluster *lab.Cluster) error {
	first, last := cluster.Hosts[0].Subnet().Addr(), cluster.Hosts[len(cluster.Hosts)-1].Subnet().Addr()
	next := last.As4()
	next[1]++ // a /16
	end := netip.AddrFrom4(next)
	return EachHost(cluster, func(h *lab.Host) error {
		err := errors.Join(RouteElsewhere(h), natOutgoing(h, familyIPv4(), first, end))
		if cluster.Spec.IPv6 {
			err = errors.Join(err, natOutgoing(h, familyIPv6(), lab.IPv6Of(first), lab.IPv6Of(end)))
		}
		return err
	})
}

// family is a version of IP, as netfilter's rules have it.
type family struct {
	table              nftables.TableFamily
	key                nftables.SetDatatype // an address
	source, to, length uint32               // of the addresses in the header, bytes
}

func familyIPv4() family {
	return family{table: nftables.TableFamilyIPv4, key: nftables.TypeIPAddr, source: 12, to: 16, length: 4}
}

func familyIPv6() family {
	return family{table: nftables.TableFamilyIPv6, key: nftables.TypeIP6Addr, source: 8, to: 24, length: 16}
}

// natOutgoing is: ip saddr in the pool, ip daddr not in it, masquerade. The pool begins with
// first and ends before end. It has the shape and the names of Felix's rules: two sets, since a
// pool can be left unmasqueraded.
func natOutgoing(h *lab.Host, f family, first, end netip.Addr) error {
	elements := []nftables.SetElement{{Key: first.AsSlice()}, {Key: end.AsSlice(), IntervalEnd: true}}
	var errs error
	err := h.Nftables(func(conn *nftables.Conn) {
		table := conn.AddTable(&nftables.Table{Family: f.table, Name: "tare"})
		after := conn.AddChain(&nftables.Chain{
			Name: "cali-POSTROUTING", Table: table, Type: nftables.ChainTypeNAT,
			Hooknum: nftables.ChainHookPostrouting, Priority: nftables.ChainPriorityNATSource,
		})
		outgoing := conn.AddChain(&nftables.Chain{Name: "cali-nat-outgoing", Table: table})
		masq := &nftables.Set{Table: table, Name: "cali40masq-ipam-pools", ID: 1, KeyType: f.key, Interval: true}
		all := &nftables.Set{Table: table, Name: "cali40all-ipam-pools", ID: 2, KeyType: f.key, Interval: true}
		for _, set := range []*nftables.Set{masq, all} {
			errs = errors.Join(errs, conn.AddSet(set, elements))
		}
		conn.AddRule(&nftables.Rule{Table: table, Chain: after, Exprs: []expr.Any{
			&expr.Counter{}, &expr.Verdict{Kind: expr.VerdictJump, Chain: outgoing.Name},
		}})
		conn.AddRule(&nftables.Rule{Table: table, Chain: outgoing, Exprs: []expr.Any{
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: f.source, Len: f.length},
			&expr.Lookup{SourceRegister: 1, SetName: masq.Name, SetID: masq.ID},
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: f.to, Len: f.length},
			&expr.Lookup{SourceRegister: 1, SetName: all.Name, SetID: all.ID, Invert: true},
			&expr.Counter{}, &expr.Masq{FullyRandom: true},
		}})
	})
	return errors.Join(errs, err)
}
