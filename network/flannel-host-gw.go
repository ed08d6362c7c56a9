package network

import (
	"tare/engine/flannel"
	"tare/lab"
)

// flannelHostGW is flannel with routes between hosts: nothing is encapsulated.
func flannelHostGW() Network {
	return Network{
		Needs: flannelNeeds(),
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			return setUpFlannel(cluster, setup, flannel.Backend{Type: "host-gw"})
		},
		Try: func(cluster *lab.Cluster, _ *Setup) error { return flannel.Try(cluster.Hosts[0]) },
	}
}
