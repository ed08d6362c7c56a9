package kinds

import (
	"errors"

	"tare/engine"
	"tare/lab"
	"tare/network"
)

// ebpfRedirect is ptp whose packets pass the host without its stack, as in Cilium's host
// routing.
func ebpfRedirect() network.Network {
	return network.Network{
		Needs: []engine.Need{engine.NeedRoot()},
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			return pastStack(cluster, setup, lab.Veth)
		},
	}
}

// pastStack attaches containers by pairs of a kind, and lets their packets pass the hosts
// without their stacks.
func pastStack(cluster *lab.Cluster, setup *network.Setup, kind lab.Pair) error {
	shortcuts := map[*lab.Host]*lab.Shortcut{}
	open := func(h *lab.Host) (err error) {
		shortcuts[h], err = h.AddShortcut(lab.Device, kind)
		return err
	}
	if err := errors.Join(network.EachHost(cluster, network.RouteElsewhere), network.RouteBetweenHosts(cluster), network.EachHost(cluster, open)); err != nil {
		return err
	}
	return setup.Populate(cluster, func(c *lab.Container) error {
		port, err := pairByNextHop(kind, c, cluster.Spec.MTU)
		if err != nil {
			return err
		}
		return shortcuts[c.Host].Add(c, port)
	})
}
