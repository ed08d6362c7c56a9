package network

import "tare/lab"

// bgpRR is bgp in which the first hosts are route reflectors (RFC 4456), from which
// all hosts learn each other's routes.
func bgpRR() Network {
	n := bgp()
	n.SetUp = func(cluster *lab.Cluster, setup *Setup) error {
		return fabric{peers: reflected, mtu: cluster.Spec.MTU}.setUp(cluster, setup)
	}
	return n
}
