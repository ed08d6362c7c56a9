package network

import (
	"tare/engine/router"
	"tare/lab"
)

// mesh peers each host with every other. Of two hosts the one with the higher
// address connects, as in Calico's mesh: two connections that meet would cost
// a round.
func mesh(of *lab.Host, hosts []*lab.Host) []router.Peer {
	var peers []router.Peer
	for _, h := range hosts {
		if h != of {
			peers = append(peers, router.Peer{Name: h.Short, Addr: h.Addr, Passive: h.Number > of.Number})
		}
	}
	return peers
}

// reflectors is how many hosts of so many reflect routes to the others: two, so
// that one may fail, where that leaves anybody to reflect to.
func reflectors(hosts int) int {
	if hosts < 3 {
		return 1
	}
	return 2
}

// reflected peers each host with the reflectors only, which are the first
// hosts, and those with each other.
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
