package kinds

import (
	"tare/lab"
	"tare/network"
)

// bridge is a Linux bridge per host with a veth pair per container.
func bridge() network.Network {
	return network.Network{
		SetUp: setUpBridge,
	}
}

func setUpBridge(cluster *lab.Cluster, setup *network.Setup) error {
	b := network.OwnSubnet(cluster.Spec.MTU)
	if err := network.EachHost(cluster, b.SetUp); err != nil {
		return err
	}
	return setup.Populate(cluster, b.Plug)
}
