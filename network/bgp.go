package network

import (
	"errors"
	"fmt"
	"time"

	"tare/lab"
)

// bgp is a network of Calico's shape, with routes between hosts from a BGP
// daemon on each, every one of which peers with every other.
func bgp() Network {
	return Network{
		Name:     "bgp",
		Doc:      "veth, /32 routes, proxy ARP, NAT to the outside, routes from BGP in a full mesh (Calico's data path)",
		Parent:   "ptp",
		Fidelity: SamePath,
		Paths:    []string{SameHost, CrossHost, HostToContainer},
		Outside:  true,
		Needs:    bgpNeeds(),
		Missing:  "nftables with NAT",
		Get:      "modprobe nft_chain_nat nft_masq nft_ct",
		Params:   []Param{routerParam(), policiesParam()},
		Lay: func(u *lab.Underlay, l *Laying) error {
			return fabric{peers: mesh, mtu: u.Spec.MTU}.lay(u, l)
		},
		Try: tryPool,
	}
}

// bgpNeeds are what each of these networks needs by default. Another router is
// looked for when it is asked for.
func bgpNeeds() []Need { return []Need{root(), program("bird", "bird2")} }

// fabric is how the hosts of a network of Calico's shape are joined.
type fabric struct {
	peers  func(of *lab.Host, hosts []*lab.Host) []peer
	tunnel string // the device through which other hosts' blocks are reached; empty: the underlay's
	mtu    int    // of the containers
}

// lay makes the containers, starts a router on each host and waits until all
// routes are there.
func (f fabric) lay(u *lab.Underlay, l *Laying) error {
	if err := errors.Join(knowHosts(u), layPool(u, l, f.mtu), layPolicies(u, l)); err != nil {
		return err
	}
	name := l.Params[routerName]
	if name == "" {
		name = routerParam().Default()
	}
	r, err := findRouter(name)
	if err != nil {
		return err
	}
	started := time.Now()
	err = eachHost(u, func(h *lab.Host) error {
		return r.start(h, speaker{
			Addr: h.Addr, Blocks: blocks(h, l.Containers),
			Peers: f.peers(h, u.Hosts), Tunnel: f.tunnel,
		})
	})
	if err != nil {
		return err
	}
	if err := converge(u, l, r); err != nil {
		return err
	}
	l.Note("routes converged in %.1f s", time.Since(started).Seconds())
	version, err := r.version(u.Hosts[0])
	l.part()[r.name] = version
	return err
}

// tryPool tells whether the kernel can do what is asked of it, without waiting
// for routes.
func tryPool(u *lab.Underlay, l *Laying) error {
	l.Params = map[string]string{policiesName: "1"}
	return errors.Join(layPool(u, l, u.Spec.MTU), layPolicies(u, l))
}

const (
	convergeWait = 60 * time.Second
	convergeStep = 10 * time.Millisecond
)

// converge waits until every host has a route to each block of every other.
func converge(u *lab.Underlay, l *Laying, r router) error {
	deadline := time.Now().Add(convergeWait)
	return eachHost(u, func(h *lab.Host) error {
		for {
			missing, err := missingBlocks(u, h, l, r)
			if err != nil || len(missing) == 0 {
				return err
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("wait for BGP routes in %s: none to %s after %v: %s", h.Name, missing[0], convergeWait, r.why(h))
			}
			time.Sleep(convergeStep)
		}
	})
}
