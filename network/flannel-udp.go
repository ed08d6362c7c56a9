package network

import (
	"tare/engine/flannel"
	"tare/lab"
	"tare/wire"
)

// flannelUDP is flannel with a tunnel in user space: flanneld itself carries
// each packet, from a TUN device in a UDP datagram.
func flannelUDP() Network {
	return Network{
		Name:     "flannel-udp",
		Doc:      "flannel's udp backend: bridge per host, flanneld carries each packet in user space, container MTU = underlay - 28",
		Parent:   "flannel-host-gw",
		Fidelity: Product,
		Facts:    Facts{Kernel: "tun"},
		Stack:    wire.UDP(),
		Paths:    []string{SameHost, CrossHost, HostToContainer},
		Needs:    append(flannelNeeds(), tunNeed()),
		Missing:  "netfilter as iptables needs it",
		Get:      "modprobe -a br_netfilter nft_compat xt_comment xt_mark xt_MASQUERADE",
		Params:   []Param{masqueradeParam()},
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			return setUpFlannel(cluster, setup, flannel.Backend{Type: "udp"})
		},
		Try: func(cluster *lab.Cluster, _ *Setup) error { return flannel.Try(cluster.Hosts[0]) },
	}
}
