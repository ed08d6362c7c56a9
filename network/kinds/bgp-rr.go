package kinds

import (
	"tare/engine/router"
	"tare/lab"
	"tare/network"
)

// bgpRR is bgp in which the first hosts are route reflectors (RFC 4456), from which
// all hosts learn each other's routes.
func bgpRR() network.Network {
	n := bgp()
	n.SetUp = func(cluster *lab.Cluster, setup *network.Setup) error {
		return fabric{peers: reflected, mtu: cluster.Spec.MTU}.setUp(cluster, setup)
	}
	return n
}

// reflectors is the number of route reflectors among a number of hosts: two, so
// that one can fail, if any other host remains.
func reflectors(hosts int) int {
	if hosts < 3 {
		return 1
	}
	return 2
}

// reflected peers each host with the reflectors, which are the first hosts and peer
// with all.
func reflected(of *lab.Host, hosts []*lab.Host) []router.Peer {
	count := reflectors(len(hosts))
	reflects := of.Number <= count
	var peers []router.Peer
	for _, h := range hosts {
		client := h.Number > count
		if h != of && (reflects || !client) {
			peers = append(peers, router.Peer{Name: h.Short, Addr: h.Addr, Client: reflects && client})
		}
	}
	return peers
}
