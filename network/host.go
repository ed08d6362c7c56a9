package network

import "tare/lab"

// host is no container network at all: the baseline.
func host() Network {
	return Network{
		SetUp: func(*lab.Cluster, *Setup) error { return nil },
		Ends:  hostEnds,
	}
}
