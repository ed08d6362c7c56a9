package weigh

import (
	"math"

	"tare/catalog"
	"tare/result"
)

// LeastPart is the toll, and the share of one, from which it is divided and its parts
// are named.
const LeastPart = 0.05

// Lack is what a result has not measured of what a toll is made of.
type Lack struct {
	Networks []string // that the network is built upon, between two that were measured
	Without  string   // the same network without what this parameter adds; empty: it is there, or adds nothing
	NIC      bool     // the same network with an interface that cuts its tunnel's segments
}

// Lacking is what would divide a cell's toll on a metric further. all are the groups of
// the result.
func Lacking(all []*Group, c *result.Cell, metric string) (l Lack) {
	if alone, _ := Alone(all, c); alone == nil && has(c.Params.Settings(), catalog.Rules) {
		l.Without = catalog.Rules // a neighbour and a passenger are always left out too
	}
	parts := Parts(all, c, metric)
	for _, p := range parts {
		if math.Abs(p.Points) < LeastPart {
			continue
		}
		for _, name := range p.Between {
			if n, known := catalog.FindNetwork(name); known && n.Serves(c.Path) && n.Bare {
				l.Networks = result.AddOnce(l.Networks, name)
			}
		}
	}
	kind, known := catalog.FindNetwork(c.Network)
	modelled := Of(all, c).OwnLink(c) > 0 || c.Params.Linked()
	l.NIC = known && len(parts) > 0 && kind.Encapsulates() && !catalog.Within(c.Path) && !modelled &&
		c.Params.Text("nic") != fullNIC && fuller(all, c) == nil
	return l
}
