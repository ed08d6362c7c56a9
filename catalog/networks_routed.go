package catalog

import "tare/wire"

// routedNetworks lead from host to host, by routes or through tunnels.
func routedNetworks() []Network {
	return []Network{
		{
			Name: "route", Parent: "bridge", Fidelity: SamePath, Bare: true, IPv6: true, Outside: true,
			Doc:     "bridge per host, static routes between hosts (CNI bridge, flannel host-gw)",
			Facts:   Facts{NeedsL2: true},
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "the kernel's bridge", Get: "modprobe bridge",
		},
		{
			Name: "ptp", Called: []string{"calico"}, Parent: "veth", Fidelity: SamePath, Bare: true, IPv6: true, Outside: true,
			Doc:     "veth + /32 routes + proxy ARP, no bridge, static routes between hosts (Calico's data path)",
			Facts:   Facts{NeedsL2: true},
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "veth devices", Get: "modprobe veth",
		},
		{
			Name: "ebpf-redirect", Called: []string{"cilium"}, Parent: "ptp", Fidelity: SamePath, IPv6: true, Outside: true,
			Doc:     "ptp, packets handed over by bpf_redirect_peer and bpf_redirect_neigh, past the host's stack (Cilium's host routing)",
			Facts:   Facts{NeedsL2: true},
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "BPF classifiers with bpf_redirect_peer", Get: "Linux 5.10 or later with CONFIG_BPF_SYSCALL and CONFIG_NET_CLS_BPF",
		},
		{
			Name: "netkit", Parent: "ebpf-redirect", Fidelity: SamePath, IPv6: true, Outside: true,
			Doc:     "ebpf-redirect with netkit devices in place of veth: a program decides while the container sends (Cilium's netkit mode)",
			Facts:   Facts{NeedsL2: true},
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "netkit devices", Get: "Linux 6.7 or later with CONFIG_NETKIT",
			Params: []Param{{
				Name: NetkitMode, Doc: "layer of netkit devices: l3 has no MAC addresses and no ARP",
				Values: []string{NetkitL3, NetkitL2}, List: true,
			}},
		},
		{
			Name: "vxlan", Called: []string{"overlay"}, Parent: "bridge", Fidelity: SamePath, Bare: true, IPv6: true,
			Doc:   "bridge + kernel VXLAN between hosts, container MTU = underlay - 50",
			Facts: Facts{Kernel: "vxlan"}, Stack: wire.VXLAN(),
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "VXLAN devices", Get: "modprobe vxlan",
		},
		{
			Name: "tun-udp", Published: []string{"weave"}, Parent: "route", Fidelity: StandIn, IPv6: true,
			Doc:   "bridge + a userspace tunnel over UDP between hosts (what weave's sleeve and flannel's udp do), container MTU = underlay - 28",
			Facts: Facts{Kernel: "tun"}, Stack: wire.UDP(),
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "TUN devices", Get: "modprobe tun",
		},
	}
}
