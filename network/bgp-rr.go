package network

import "tare/lab"

// bgpRR is bgp where hosts learn each other's routes from route reflectors
// (RFC 4456) that stand among them.
func bgpRR() Network {
	n := bgp()
	n.Name, n.Parent = "bgp-rr", "bgp"
	n.Doc = "bgp with routes from route reflectors, which are the first two hosts, instead of a full mesh"
	n.SetUp = func(cluster *lab.Cluster, setup *Setup) error {
		return fabric{peers: reflected, mtu: cluster.Spec.MTU}.setUp(cluster, setup)
	}
	return n
}
