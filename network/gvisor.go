package network

import (
	"tare/engine/runsc"
	"tare/lab"
)

// gvisor is route with containers of gVisor: their processes run in a sandbox with its own
// TCP/IP stack, behind the veth pair.
func gvisor() Network {
	return Network{
		Needs: runsc.Needs(),
		Cycle: runsc.Cycle,
		SetUp: setUpGvisor,
	}
}

func setUpGvisor(cluster *lab.Cluster, setup *Setup) error {
	b := ownSubnet(cluster.Spec.MTU)
	err := allHosts(cluster, func(h *lab.Host) error {
		if err := b.setUp(h); err != nil {
			return err
		}
		return runsc.Start(h)
	})
	if err != nil {
		return err
	}
	err = setup.populate(cluster, func(c *lab.Container) error {
		if err := b.plug(c); err != nil {
			return err
		}
		return runsc.Run(c)
	})
	if err != nil {
		return err
	}
	return routeBetweenHosts(cluster)
}
