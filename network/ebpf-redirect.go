package network

import (
	"errors"

	"tare/engine"
	"tare/lab"
)

// ebpfRedirect is ptp whose packets pass the host without its stack, as in Cilium's host
// routing.
func ebpfRedirect() Network {
	return Network{
		Needs: []engine.Need{engine.NeedRoot()},
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			return pastStack(cluster, setup, lab.Veth)
		},
	}
}

// pastStack attaches containers by pairs of a kind, and lets their packets pass the hosts
// without their stacks.
func pastStack(cluster *lab.Cluster, setup *Setup, kind lab.Pair) error {
	shortcuts := map[*lab.Host]*lab.Shortcut{}
	open := func(h *lab.Host) (err error) {
		shortcuts[h], err = h.AddShortcut(lab.Device, kind)
		return err
	}
	if err := errors.Join(eachHost(cluster, routeElsewhere), routeBetweenHosts(cluster), eachHost(cluster, open)); err != nil {
		return err
	}
	return setup.populate(cluster, func(c *lab.Container) error {
		port, err := pairByNextHop(kind, c, cluster.Spec.MTU)
		if err != nil {
			return err
		}
		return shortcuts[c.Host].Add(c, port)
	})
}
