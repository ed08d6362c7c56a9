package network

import (
	"errors"
	"net/netip"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

	"tare/lab"
)

// blockBits is the length of a block's prefix: a host is given addresses for
// its containers 64 at a time (Calico's IPAM, blockSize 26).
const blockBits = 26

// blocks are those of the host's range that hold so many containers.
func blocks(h *lab.Host, containers int) []netip.Prefix {
	var all []netip.Prefix
	for n := range containers + 1 { // 0 is the host's own, for its tunnel
		block := netip.PrefixFrom(h.ContainerAddr(n), blockBits).Masked()
		if !slices.Contains(all, block) {
			all = append(all, block)
		}
	}
	return all
}

// missingBlocks are those of other hosts that the router has laid no route to.
func missingBlocks(u *lab.Underlay, h *lab.Host, l *Laying, r router) ([]netip.Prefix, error) {
	learned, err := h.Learned(r.protocol)
	if err != nil {
		return nil, err
	}
	var missing []netip.Prefix
	for _, other := range u.Hosts {
		if other == h {
			continue
		}
		for _, block := range blocks(other, l.Containers) {
			if !slices.Contains(learned, block) {
				missing = append(missing, block)
			}
		}
	}
	return missing, nil
}

// knowHosts tells every host the others' MAC addresses. All namespaces of a
// machine share one neighbour table, of 1024 entries by default (gc_thresh3),
// which a mesh of 33 hosts fills; permanent entries don't count (Linux 5.0).
func knowHosts(u *lab.Underlay) error {
	return eachHost(u, func(h *lab.Host) error {
		for _, other := range u.Hosts {
			if other == h {
				continue
			}
			if err := h.AddNeighbour(lab.Device, other.Addr, lab.MAC(other.Addr)); err != nil {
				return err
			}
		}
		return nil
	})
}

// layPool makes the containers of each host, and masquerades what leaves the
// pool of all containers' addresses.
func layPool(u *lab.Underlay, l *Laying, mtu int) error {
	return eachHost(u, func(h *lab.Host) error {
		// A host answers by proxy only for what it would route elsewhere.
		if err := h.AddRoute(lab.Route{To: lab.Default(), Device: lab.Device}); err != nil {
			return err
		}
		for n := 1; n <= l.Containers; n++ {
			if err := proxyARPPair(h, h.ContainerAddr(n), mtu); err != nil {
				return err
			}
		}
		return natOutgoing(h, u.Hosts)
	})
}

// natOutgoing is: ip saddr in the pool, ip daddr not in it, masquerade. It has
// the shape and the names of Felix's rules: two sets, since not every pool
// need be masqueraded.
func natOutgoing(h *lab.Host, hosts []*lab.Host) error {
	first, last := hosts[0].Subnet(), hosts[len(hosts)-1].Subnet()
	end := last.Addr().As4()
	end[1]++ // a /16
	elements := []nftables.SetElement{{Key: first.Addr().AsSlice()}, {Key: end[:], IntervalEnd: true}}

	var laid error
	err := h.Nftables(func(conn *nftables.Conn) {
		table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "tare"})
		after := conn.AddChain(&nftables.Chain{
			Name: "cali-POSTROUTING", Table: table, Type: nftables.ChainTypeNAT,
			Hooknum: nftables.ChainHookPostrouting, Priority: nftables.ChainPriorityNATSource,
		})
		outgoing := conn.AddChain(&nftables.Chain{Name: "cali-nat-outgoing", Table: table})
		masq := &nftables.Set{Table: table, Name: "cali40masq-ipam-pools", ID: 1, KeyType: nftables.TypeIPAddr, Interval: true}
		all := &nftables.Set{Table: table, Name: "cali40all-ipam-pools", ID: 2, KeyType: nftables.TypeIPAddr, Interval: true}
		for _, set := range []*nftables.Set{masq, all} {
			laid = errors.Join(laid, conn.AddSet(set, elements))
		}
		conn.AddRule(&nftables.Rule{Table: table, Chain: after, Exprs: []expr.Any{
			&expr.Counter{}, &expr.Verdict{Kind: expr.VerdictJump, Chain: outgoing.Name},
		}})
		conn.AddRule(&nftables.Rule{Table: table, Chain: outgoing, Exprs: []expr.Any{
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: 12, Len: 4},
			&expr.Lookup{SourceRegister: 1, SetName: masq.Name, SetID: masq.ID},
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: 16, Len: 4},
			&expr.Lookup{SourceRegister: 1, SetName: all.Name, SetID: all.ID, Invert: true},
			&expr.Counter{}, &expr.Masq{FullyRandom: true},
		}})
	})
	return errors.Join(laid, err)
}
