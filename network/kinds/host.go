package kinds

import (
	"tare/lab"
	"tare/network"
)

// host is no container network at all: the baseline.
func host() network.Network {
	return network.Network{
		SetUp: func(*lab.Cluster, *network.Setup) error { return nil },
		Ends:  network.HostEnds,
	}
}
