package catalog

import "tare/wire"

// bgpNetworks have the shape of Calico's.
func bgpNetworks() []Network {
	return []Network{
		{
			Name:     "bgp",
			Doc:      "veth, /32 routes, proxy ARP, NAT to the outside, routes from BGP in a full mesh (Calico's data path)",
			Parent:   "ptp",
			Fidelity: SamePath,
			Facts:    Facts{NAT: true, Policy: true, NeedsL2: true},
			Paths:    []string{SameHost, CrossHost, HostToContainer},
			Outside:  true,
			IPv6:     true,
			Missing:  "nftables with NAT",
			Get:      "modprobe nft_chain_nat nft_masq nft_ct",
			Params:   []Param{router(), policies()},
		},
		{
			Name:     "bgp-rr",
			Doc:      "bgp with routes from route reflectors, which are the first two hosts, instead of a full mesh",
			Parent:   "bgp",
			Fidelity: SamePath,
			Facts:    Facts{NAT: true, Policy: true, NeedsL2: true},
			Paths:    []string{SameHost, CrossHost, HostToContainer},
			Outside:  true,
			IPv6:     true,
			Missing:  "nftables with NAT",
			Get:      "modprobe nft_chain_nat nft_masq nft_ct",
			Params:   []Param{router(), policies()},
		},
		{
			Name:     "bgp-ipip",
			Doc:      "bgp with IPIP between hosts, container MTU = underlay - 20 (Calico's ipipMode Always)",
			Parent:   "bgp",
			Fidelity: SamePath,
			Facts:    Facts{NAT: true, Policy: true, Kernel: "ipip"},
			Stack:    wire.IPIP(),
			Paths:    []string{SameHost, CrossHost, HostToContainer},
			Outside:  true,
			Missing:  "IPIP devices, and tc-BPF as a stand-in",
			Get:      "modprobe ipip",
			Params:   []Param{policies()}, // FRR cannot set the device of a learned route
		},
	}
}
