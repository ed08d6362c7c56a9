package network

import (
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
		Paths:    []string{SameHost, CrossHost, HostToContainer},
		Needs:    flannelNeeds(),
		Missing:  "netfilter as iptables needs it",
		Get:      "modprobe -a br_netfilter nft_compat xt_comment xt_mark xt_MASQUERADE",
		Params:   []Param{masqueradeParam()},
		Lay: func(u *lab.Underlay, l *Laying) error {
			return layFlannel(u, l, flannelBackend{Type: "host-gw"})
		},
		Try: func(u *lab.Underlay, _ *Laying) error { return tryFlannelRules(u) },
	}
}
