package kinds

import (
	"tare/lab"
	"tare/network"
)

// route is a bridge per host, and static routes between hosts: what
// containerd with the CNI bridge does, and flannel's host-gw.
func route() network.Network {
	return network.Network{
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			if err := setUpBridge(cluster, setup); err != nil {
				return err
			}
			return network.RouteBetweenHosts(cluster)
		},
	}
}
