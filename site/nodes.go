package site

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"tare/catalog"
	"tare/lab"
	"tare/network"
	"tare/probe"
)

// Nodes are machines that measure with each other: those of a mesh. Places are called h1, h2
// and so on.
type Nodes struct {
	*Endpoints
	mu   sync.Mutex
	seen map[string]probe.Inventory
}

// ReachNodes starts an outpost on each machine of a way. Why one is not reached is in Unreached.
// The way is closed with the nodes.
func ReachNodes(ctx context.Context, way Way, version string) (*Nodes, error) {
	way.Partial = true
	e, err := start(ctx, way, version)
	if err != nil {
		return nil, err
	}
	return &Nodes{Endpoints: e, seen: map[string]probe.Inventory{}}, nil
}

// Boot is the machine that a node is on; there is whether it was reached.
func (n *Nodes) Boot(host string) (boot string, there bool) {
	o, there := n.outposts[host]
	if !there {
		return "", false
	}
	return o.Greeting.Place.Boot, true
}

// Place is what a node is called where a site finds its places.
func (n *Nodes) Place(host string) string { return hostCluster + "." + host }

// Ends finds an address at which one node reaches another, by trying.
func (n *Nodes) Ends(ctx context.Context, from, to string) (network.Ends, error) {
	_, from = catalog.SplitPlace(from)
	_, to = catalog.SplitPlace(to)
	for _, host := range []string{from, to} {
		if _, there := n.Boot(host); !there {
			return network.Ends{}, errors.New("it was not reached")
		}
		if err := n.look(ctx, host); err != nil {
			return network.Ends{}, err
		}
	}
	n.mu.Lock()
	seen := map[string]probe.Inventory{from: n.seen[from], to: n.seen[to]}
	n.mu.Unlock()
	ends, _, err := n.find(ctx, route{path: catalog.CrossHost, from: from, to: to}, hostCluster, seen)
	ends.Port = network.SitePort + 1
	return ends, err
}

// look reads which addresses a node has, once.
func (n *Nodes) look(ctx context.Context, host string) error {
	n.mu.Lock()
	_, known := n.seen[host]
	n.mu.Unlock()
	if known {
		return nil
	}
	held, err := n.Look(ctx, n.Place(host))
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen[host] = held[0]
	return nil
}

// Hosts are the hosts of a lab's network, in order: vxlan.h1, vxlan.h2.
func (t Topology) Hosts(cluster string) []string {
	var hosts []string
	for _, name := range t.Namespaces {
		if of, place := catalog.SplitPlace(name); of == cluster && place == catalog.HostOf(place) {
			hosts = append(hosts, name)
		}
	}
	slices.SortStableFunc(hosts, func(a, b string) int { return len(a) - len(b) }) // h2 before h10
	return hosts
}

// Ends is how one host of a lab reaches another: at the address of its interface.
func (l *Lab) Ends(ctx context.Context, from, to string) (network.Ends, error) {
	held, err := l.Look(ctx, to)
	if err != nil {
		return network.Ends{}, err
	}
	_, client := catalog.SplitPlace(from)
	_, server := catalog.SplitPlace(to)
	for _, link := range held[0].Links {
		if link.Name == lab.Device && len(link.Addresses) > 0 {
			addr := link.Addresses[0].Addr()
			return network.Ends{Client: client, Server: server, Bind: addr, Dial: addr}, nil
		}
	}
	return network.Ends{}, fmt.Errorf("%s has no address: nobody can reach it", to)
}
