package catalog

import "tare/wire"

// flannelNetworks are flannel's backends.
func flannelNetworks() []Network {
	return []Network{
		{
			Name: "flannel-host-gw", Parent: "route", Fidelity: Product, IPv6: true,
			Doc:   "flannel's host-gw backend: bridge per host, routes between hosts by flanneld, its rules of iptables or nftables",
			Facts: Facts{NeedsL2: true}, Stack: wire.None(),
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "netfilter as iptables needs it", Get: "modprobe -a br_netfilter nft_compat xt_comment xt_mark xt_MASQUERADE",
			Params: []Param{masquerade(), backend()},
		},
		{
			Name: "flannel-vxlan", Parent: "flannel-host-gw", Fidelity: Product,
			Doc:   "flannel's vxlan backend: bridge per host, VXLAN between hosts by flanneld, container MTU = underlay - 50",
			Facts: Facts{Kernel: "vxlan"}, Stack: wire.VXLAN(),
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "VXLAN devices", Get: "modprobe vxlan",
			Params: []Param{masquerade(), backend(), {
				Name: DirectRouting, Doc: "flannel routes between hosts of one subnet without VXLAN", Values: []string{Off, On}, List: true,
			}},
		},
		{
			Name: "flannel-udp", Parent: "flannel-host-gw", Fidelity: Product,
			Doc:   "flannel's udp backend: bridge per host, flanneld carries each packet in user space, container MTU = underlay - 28",
			Facts: Facts{Kernel: "tun"}, Stack: wire.UDP(), // which carries IPv4 alone
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "netfilter as iptables needs it", Get: "modprobe -a br_netfilter nft_compat xt_comment xt_mark xt_MASQUERADE",
			Params: []Param{masquerade(), backend()},
		},
	}
}
