package network

import "tare/lab"

// host is no container network at all: the baseline.
func host() Network {
	return Network{
		Name:     Baseline,
		Doc:      "the host's own network: the baseline",
		Fidelity: SamePath,
		Paths:    []string{SameHost, CrossHost},
		IPv6:     true,
		SetUp:    func(*lab.Cluster, *Setup) error { return nil },
		Ends:     hostEnds,
	}
}
