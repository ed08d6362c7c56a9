package network

import (
	"tare/engine/flannel"
	"tare/lab"
)

// flannelUDP is flannel with a tunnel in user space: flanneld itself carries
// each packet, from a TUN device in a UDP datagram.
func flannelUDP() Network {
	n := flannelHostGW()
	n.Needs = append(flannelNeeds(), tunNeed())
	n.SetUp = func(cluster *lab.Cluster, setup *Setup) error {
		return setUpFlannel(cluster, setup, flannel.Backend{Type: "udp"})
	}
	return n
}
