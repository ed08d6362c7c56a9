package network

import "tare/lab"

// bridge is a Linux bridge per host with a veth pair per container.
func bridge() Network {
	return Network{
		SetUp: setUpBridge,
	}
}

func setUpBridge(cluster *lab.Cluster, setup *Setup) error {
	b := ownSubnet(cluster.Spec.MTU)
	if err := eachHost(cluster, b.setUp); err != nil {
		return err
	}
	return setup.populate(cluster, b.plug)
}
