package network

import (
	"errors"
	"net/netip"
	"slices"
	"sync"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

	"tare/engine/router"
	"tare/lab"
	"tare/result"
)

// blockBits is the length of a block's prefix: a host gets the addresses of its
// containers in blocks of 64 (Calico's IPAM, blockSize 26).
const blockBits = 26

// blocks are those of its range that each host has claimed. It is safe for
// concurrent use.
type blocks struct {
	mu sync.Mutex
	of map[*lab.Host][]netip.Prefix
}

// newBlocks claims the blocks for a number of containers on each host.
func newBlocks(cluster *lab.Cluster, containers int) *blocks {
	b := &blocks{of: map[*lab.Host][]netip.Prefix{}}
	for _, h := range cluster.Hosts {
		b.of[h] = firstBlocks(h, containers)
	}
	return b
}

// firstBlocks are the first blocks of a host's range, for a number of containers.
func firstBlocks(h *lab.Host, containers int) []netip.Prefix {
	var all []netip.Prefix
	for n := range containers + 1 { // 0 is the host's own, for its tunnel
		all = result.AddOnce(all, blockOf(h.ContainerAddr(n)))
	}
	return all
}

func blockOf(addr netip.Addr) netip.Prefix { return netip.PrefixFrom(addr, blockBits).Masked() }

// claim claims the block of a container's address for its host and announces it,
// unless the host has it already. A block is never given back. Concurrent calls
// wait until the block is announced.
func (b *blocks) claim(c *lab.Container, announce func(block netip.Prefix) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	block := blockOf(c.Addr)
	if slices.Contains(b.of[c.Host], block) {
		return nil
	}
	b.of[c.Host] = append(b.of[c.Host], block)
	return announce(block)
}

// missing are the blocks of other hosts that the router has installed no route to.
func (b *blocks) missing(cluster *lab.Cluster, h *lab.Host, r router.Daemon) ([]netip.Prefix, error) {
	learned, err := h.Learned(r.Protocol)
	if err != nil {
		return nil, err
	}
	var missing []netip.Prefix
	for _, other := range others(cluster, h) {
		for _, block := range b.of[other] {
			if !slices.Contains(learned, block) || cluster.Spec.IPv6 && !slices.Contains(learned, lab.IPv6PrefixOf(block)) {
				missing = append(missing, block)
			}
		}
	}
	return missing, nil
}

// addNeighbours sets the MAC addresses of all other hosts on every host. All
// namespaces of a machine share one neighbour table, of 1024 entries by default
// (gc_thresh3), which a mesh of 33 hosts fills; permanent entries don't count
// (Linux 5.0).
func addNeighbours(cluster *lab.Cluster) error {
	return eachHost(cluster, func(h *lab.Host) error {
		return eachOther(cluster, h, func(other *lab.Host) error {
			return h.AddNeighbour(lab.Device, other.Addr, lab.MAC(other.Addr))
		})
	})
}

// addPool prepares the hosts for containers, and masquerades what leaves the pool
// of all containers' addresses.
func addPool(cluster *lab.Cluster) error {
	first, last := cluster.Hosts[0].Subnet().Addr(), cluster.Hosts[len(cluster.Hosts)-1].Subnet().Addr()
	next := last.As4()
	next[1]++ // a /16
	end := netip.AddrFrom4(next)
	return eachHost(cluster, func(h *lab.Host) error {
		err := errors.Join(routeElsewhere(h), natOutgoing(h, familyIPv4(), first, end))
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
