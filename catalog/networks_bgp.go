package catalog

import "tare/wire"

// bgpNetworks have the shape of Calico's.
func bgpNetworks() []Network {
	return []Network{
		{
			Name: "bgp", Published: []string{"calico", "calico-bgp"}, Parent: "ptp", Fidelity: SamePath, IPv6: true, Outside: true,
			Doc:     "veth, /32 routes, proxy ARP, NAT to the outside, routes from BGP in a full mesh (Calico's data path)",
			Facts:   Facts{NAT: true, Policy: true, NeedsL2: true},
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "nftables with NAT", Get: "modprobe nft_chain_nat nft_masq nft_ct",
			Params: []Param{router(), policies()},
		},
		{
			Name: "bgp-rr", Parent: "bgp", Fidelity: SamePath, IPv6: true, Outside: true,
			Doc:     "bgp with routes from route reflectors, which are the first two hosts, instead of a full mesh",
			Facts:   Facts{NAT: true, Policy: true, NeedsL2: true},
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "nftables with NAT", Get: "modprobe nft_chain_nat nft_masq nft_ct",
			Params: []Param{router(), policies()},
		},
		{
			Name: "bgp-ipip", Parent: "bgp", Fidelity: SamePath, Outside: true,
			Doc:   "bgp with IPIP between hosts, container MTU = underlay - 20 (Calico's ipipMode Always)",
			Facts: Facts{NAT: true, Policy: true, Kernel: "ipip"}, Stack: wire.IPIP(),
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "IPIP devices, and tc-BPF as a stand-in", Get: "modprobe ipip",
			Params: []Param{policies()}, // FRR cannot set the device of a learned route
		},
	}
}
