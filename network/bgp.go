package network

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"tare/catalog"
	"tare/engine"
	"tare/engine/router"
	"tare/lab"
)

// bgp is a network of Calico's shape, with routes between hosts from a BGP
// daemon on each, every one of which peers with every other.
func bgp() Network {
	return Network{
		Needs: bgpNeeds(),
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
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
func (f fabric) setUp(cluster *lab.Cluster, setup *Setup) error {
	endpoints, err := addPolicies(cluster, setup)
	if err = errors.Join(err, addNeighbours(cluster), addPool(cluster)); err != nil {
		return err
	}
	name := cmp.Or(setup.Params[catalog.Router], catalog.BIRD)
	r, err := router.Find(name)
	if err != nil {
		return err
	}
	b := newBlocks(cluster, setup.Containers)
	started := time.Now()
	err = eachHost(cluster, func(h *lab.Host) error { return r.Start(h, f.speaker(cluster, h, b)) })
	if err != nil {
		return err
	}
	if err := b.converge(cluster, r); err != nil {
		return err
	}
	setup.Note("routes converged in %.1f s", time.Since(started).Seconds())
	version, err := r.Version(cluster.Hosts[0])
	setup.part()[r.Name] = version
	if err != nil {
		return err
	}
	return setup.populate(cluster, func(c *lab.Container) error {
		if err := proxyARPPair(c, f.mtu); err != nil {
			return err
		}
		if err := endpoints.add(c); err != nil {
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
func tryPool(cluster *lab.Cluster, setup *Setup) error {
	setup.Params = map[string]string{catalog.Policies: "1"}
	_, err := addPolicies(cluster, setup)
	if err = errors.Join(err, addPool(cluster)); err != nil {
		return err
	}
	return setup.populate(cluster, func(c *lab.Container) error { return proxyARPPair(c, cluster.Spec.MTU) })
}

const (
	convergeWait = 60 * time.Second
	convergeStep = 10 * time.Millisecond
	answerSteps  = 100 // after so many it is asked whether the daemons still answer
)

// converge waits until every host has a route to each block of every other, or one of the
// daemons that it takes has ended.
func (b *blocks) converge(cluster *lab.Cluster, r router.Daemon) error {
	deadline := time.Now().Add(convergeWait)
	return eachHost(cluster, func(h *lab.Host) error {
		for n := 1; ; n++ {
			missing, err := b.missing(cluster, h, r)
			if err != nil || len(missing) == 0 {
				return err
			}
			if n%answerSteps == 0 {
				err = b.answer(cluster, h, missing[0], r)
			}
			if time.Now().After(deadline) {
				err = fmt.Errorf("after %v: %s", convergeWait, r.Problem(h))
			}
			if err != nil {
				return fmt.Errorf("wait for BGP routes in %s: none to %s: %w", h.Name, missing[0], err)
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
