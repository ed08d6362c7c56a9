package kinds

import (
	"tare/engine/runsc"
	"tare/lab"
	"tare/network"
)

// gvisor is route with containers of gVisor: their processes run in a sandbox with its own
// TCP/IP stack, behind the veth pair.
func gvisor() network.Network {
	return network.Network{
		Needs: runsc.Needs(),
		Cycle: runsc.Cycle,
		SetUp: setUpGvisor,
	}
}

func setUpGvisor(cluster *lab.Cluster, setup *network.Setup) error {
	b := network.OwnSubnet(cluster.Spec.MTU)
	err := network.AllHosts(cluster, func(h *lab.Host) error {
		if err := b.SetUp(h); err != nil {
			return err
		}
		return runsc.Start(h)
	})
	if err != nil {
		return err
	}
	err = setup.Populate(cluster, func(c *lab.Container) error {
		if err := b.Plug(c); err != nil {
			return err
		}
		return runsc.Run(c)
	})
	if err != nil {
		return err
	}
	return network.RouteBetweenHosts(cluster)
}
