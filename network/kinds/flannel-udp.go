package kinds

import (
	"tare/engine/flannel"
	"tare/lab"
	"tare/network"
)

// flannelUDP is flannel with a tunnel in user space: flanneld itself carries
// each packet, from a TUN device in a UDP datagram.
func flannelUDP() network.Network {
	n := flannelHostGW()
	n.Needs = append(flannelNeeds(), tunNeed())
	n.SetUp = func(cluster *lab.Cluster, setup *network.Setup) error {
		return setUpFlannel(cluster, setup, flannel.Backend{Type: "udp"})
	}
	return n
}
