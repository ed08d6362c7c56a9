package network

import (
	"net/netip"

	"tare/lab"
)

// asNumber is that of every host: they speak iBGP. It is Calico's default.
const asNumber = 64512

// speaker is a host as its router is told of it.
type speaker struct {
	Addr   netip.Addr
	Blocks []netip.Prefix // that it announces
	Peers  []peer
	Tunnel string // the device that learned routes lead through; empty: wherever the next hop is
}

// peer is a host that a speaker speaks to.
type peer struct {
	Name    string
	Addr    netip.Addr
	Passive bool // it connects to us
	Client  bool // we reflect routes to it
}

// mesh peers each host with every other. Of two hosts the one with the higher
// address connects, as in Calico's mesh: two connections that meet would cost
// a round.
func mesh(of *lab.Host, hosts []*lab.Host) []peer {
	var peers []peer
	for _, h := range hosts {
		if h != of {
			peers = append(peers, peer{Name: h.Short, Addr: h.Addr, Passive: h.Number > of.Number})
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
func reflected(of *lab.Host, hosts []*lab.Host) []peer {
	count := reflectors(len(hosts))
	reflects := of.Number <= count
	var peers []peer
	for _, h := range hosts {
		client := h.Number > count
		if h != of && (reflects || !client) {
			peers = append(peers, peer{Name: h.Short, Addr: h.Addr, Client: reflects && client})
		}
	}
	return peers
}
