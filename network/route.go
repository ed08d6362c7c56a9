package network

import "tare/lab"

// route is a bridge per host, and static routes between hosts: what
// containerd with the CNI bridge does, and flannel's host-gw.
func route() Network {
	return Network{
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			if err := setUpBridge(cluster, setup); err != nil {
				return err
			}
			return routeBetweenHosts(cluster)
		},
	}
}
