package network

import (
	"tare/engine/flannel"
	"tare/lab"
	"tare/wire"
)

// flannelHostGW is flannel with routes between hosts: nothing is encapsulated.
func flannelHostGW() Network {
	return Network{
		Name:     "flannel-host-gw",
		Doc:      "flannel's host-gw backend: bridge per host, routes between hosts by flanneld, its iptables rules",
		Parent:   "route",
		Fidelity: Product,
		Facts:    Facts{NeedsL2: true},
		Stack:    wire.None(),
		IPv6:     true,
		Paths:    []string{SameHost, CrossHost, HostToContainer},
		Needs:    flannelNeeds(),
		Missing:  "netfilter as iptables needs it",
		Get:      "modprobe -a br_netfilter nft_compat xt_comment xt_mark xt_MASQUERADE",
		Params:   []Param{masqueradeParam()},
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			return setUpFlannel(cluster, setup, flannel.Backend{Type: "host-gw"})
		},
		Try: func(cluster *lab.Cluster, _ *Setup) error { return flannel.Try(cluster.Hosts[0]) },
	}
}
