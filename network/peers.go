package network

import (
	"tare/engine/router"
	"tare/lab"
)

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
