package network

import (
	"tare/engine/flannel"
	"tare/lab"
	"tare/wire"
)

// flannelUDP is flannel with a tunnel in user space: flanneld itself carries
// each packet, from a TUN device in a UDP datagram.
func flannelUDP() Network {
	n := flannelHostGW()
	n.Name, n.Parent = "flannel-udp", "flannel-host-gw"
	n.Doc = "flannel's udp backend: bridge per host, flanneld carries each packet in user space, container MTU = underlay - 28"
	n.Facts, n.IPv6 = Facts{Kernel: "tun"}, false // its backend carries IPv4
	n.Stack = wire.UDP()
	n.Needs = append(flannelNeeds(), tunNeed())
	n.SetUp = func(cluster *lab.Cluster, setup *Setup) error {
		return setUpFlannel(cluster, setup, flannel.Backend{Type: "udp"})
	}
	return n
}
