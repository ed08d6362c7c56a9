package kinds

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"tare/catalog"
	"tare/engine"
	"tare/engine/router"
	"tare/lab"
	"tare/network"
	"tare/result"
)

// bgp is a network of Calico's shape, with routes between hosts from a BGP
// daemon on each, every one of which peers with every other.
func bgp() network.Network {
	return network.Network{
		Needs: bgpNeeds(),
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			return fabric{peers: mesh, mtu: cluster.Spec.MTU}.setUp(cluster, setup)
		},
		Try: tryPool,
	}
}

// bgpNeeds are what each of these networks needs by default. BIRD runs in a
// user namespace too. FRR is looked for when it is chosen.
func bgpNeeds() []engine.Need { return []engine.Need{engine.NeedProgram("bird", "bird2")} }

// fabric is how the hosts of a network of Calico's shape reach each other.
type fabric struct {
	peers  func(of *lab.Host, hosts []*lab.Host) []router.Peer
	tunnel string // the device that routes to other hosts' blocks go through; empty: the underlay's
	mtu    int    // of the containers
}

// setUp starts a router on each host, waits until all routes are installed, and
// attaches the containers.
func (f fabric) setUp(cluster *lab.Cluster, setup *network.Setup) error {
	endpoints, err := network.AddPolicies(cluster, setup)
	if err = errors.Join(err, network.AddNeighbours(cluster), network.AddPool(cluster)); err != nil {
		return err
	}
	name := cmp.Or(setup.Params[catalog.Router], catalog.BIRD)
	r, err := router.Find(name)
	if err != nil {
		return err
	}
	b := newBlocks(cluster, setup.Containers)
	started := time.Now()
	err = network.EachHost(cluster, func(h *lab.Host) error { return r.Start(h, f.speaker(cluster, h, b)) })
	if err != nil {
		return err
	}
	if err := b.converge(cluster, r); err != nil {
		return err
	}
	setup.Note("routes converged in %.1f s", time.Since(started).Seconds())
	version, err := r.Version(cluster.Hosts[0])
	setup.Part()[r.Name] = version
	if err != nil {
		return err
	}
	return setup.Populate(cluster, func(c *lab.Container) error {
		if err := proxyARPPair(c, f.mtu); err != nil {
			return err
		}
		if err := endpoints.Add(c); err != nil {
			return err
		}
		return b.claim(c, func(block netip.Prefix) error {
			if err := r.Announce(c.Host, f.speaker(cluster, c.Host, b), block); err != nil {
				return err
			}
			return b.converge(cluster, r)
		})
	})
}

// speaker is the configuration of a host's router.
func (f fabric) speaker(cluster *lab.Cluster, h *lab.Host, b *blocks) router.Speaker {
	return router.Speaker{Addr: h.Addr, Blocks: b.of[h], Peers: f.peers(h, cluster.Hosts), IPv6: cluster.Spec.IPv6, Tunnel: f.tunnel}
}

// tryPool reports whether the kernel can do what these networks need, without
// waiting for routes.
func tryPool(cluster *lab.Cluster, setup *network.Setup) error {
	setup.Params = map[string]string{catalog.Policies: "1"}
	_, err := network.AddPolicies(cluster, setup)
	if err = errors.Join(err, network.AddPool(cluster)); err != nil {
		return err
	}
	return setup.Populate(cluster, func(c *lab.Container) error { return proxyARPPair(c, cluster.Spec.MTU) })
}

const (
	convergeWait = 60 * time.Second
	convergeStep = 10 * time.Millisecond
	answerSteps  = 100 // after so many it is asked whether the daemons still answer
)

// converge waits until every host has a route to each block of every other and all its
// sessions, or one of the daemons that it takes has ended. A session that comes later has routes
// installed anew, without what was set on them.
func (b *blocks) converge(cluster *lab.Cluster, r router.Daemon) error {
	deadline := time.Now().Add(convergeWait)
	return network.EachHost(cluster, func(h *lab.Host) error {
		for n := 1; ; n++ {
			missing, err := b.missing(cluster, h, r)
			if err != nil {
				return err
			}
			lacks := "a session"
			if len(missing) == 0 {
				if down, err := r.Down(h); err != nil || len(down) == 0 {
					return err
				}
			} else if lacks = "a route to " + missing[0].String(); n%answerSteps == 0 {
				err = b.answer(cluster, h, missing[0], r)
			}
			if time.Now().After(deadline) {
				err = fmt.Errorf("after %v: %s", convergeWait, r.Problem(h))
			}
			if err != nil {
				return fmt.Errorf("wait for BGP in %s: it lacks %s: %w", h.Name, lacks, err)
			}
			time.Sleep(convergeStep)
		}
	})
}

// answer asks the daemons that a host's route to a block takes: its own, the block's, and
// that of the first host, which may reflect it.
func (b *blocks) answer(cluster *lab.Cluster, h *lab.Host, block netip.Prefix, r router.Daemon) error {
	for _, one := range cluster.Hosts {
		if one == h || one == cluster.Hosts[0] || slices.Contains(b.of[one], block) {
			if _, err := r.Version(one); err != nil {
				return err
			}
		}
	}
	return nil
}

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
	for _, other := range network.Others(cluster, h) {
		for _, block := range b.of[other] {
			if !slices.Contains(learned, block) || cluster.Spec.IPv6 && !slices.Contains(learned, lab.IPv6PrefixOf(block)) {
				missing = append(missing, block)
			}
		}
	}
	return missing, nil
}

// mesh peers each host with every other. Of two hosts the one with the higher
// address connects, as in Calico's mesh: if both connected at once, one connection
// would be closed, and the session would need another try.
func mesh(of *lab.Host, hosts []*lab.Host) []router.Peer {
	var peers []router.Peer
	for _, h := range hosts {
		if h != of {
			peers = append(peers, router.Peer{Name: h.Short, Addr: h.Addr, Passive: h.Number > of.Number})
		}
	}
	return peers
}
