package network

import (
	"tare/catalog"
	"tare/lab"
)

// NeighbourContainers is how many containers each host has at least where there is a neighbour:
// it is the last of them.
const NeighbourContainers = 3

// NeighbourEnds returns the ends of a neighbour: from the third container of the first host to that of
// the second. Where containers reach only what the other host publishes, its end there is that
// host; where they reach no other host, it is the container's own. ok: the lab is large enough.
func (n Network) NeighbourEnds(cluster *lab.Cluster) (ends Ends, ok bool) {
	third := func(at int) *lab.Container {
		if at < len(cluster.Hosts) && len(cluster.Hosts[at].Containers()) >= NeighbourContainers {
			return cluster.Hosts[at].Containers()[NeighbourContainers-1]
		}
		return nil
	}
	near, far := third(0), third(1)
	if near == nil || far == nil {
		return Ends{}, false
	}
	ends.Client = near.Host.Short + "/" + near.Short
	switch own, other := near.Host, far.Host; {
	case n.Serves(catalog.CrossHost):
		ends.Server, ends.Bind, ends.Dial = other.Short+"/"+far.Short, far.Addr, far.Addr
	case n.Outside:
		ends.Server, ends.Bind, ends.Dial = other.Short, other.At(), other.At()
	default:
		ends.Server, ends.Bind, ends.Dial = own.Short, own.Addr, own.Addr
	}
	if cluster.Spec.IPv6 {
		ends.Bind, ends.Dial = lab.IPv6Of(ends.Bind), lab.IPv6Of(ends.Dial)
	}
	return ends, true
}
