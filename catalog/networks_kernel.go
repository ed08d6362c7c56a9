package catalog

// kernelNetworks are those that any kernel has.
func kernelNetworks() []Network {
	return []Network{
		{
			Name: Baseline, Called: []string{"hostnetwork", "native"}, Fidelity: SamePath, Bare: true, IPv6: true,
			Doc:   "the host's own network: the baseline",
			Paths: []string{SameHost, CrossHost},
		},
		{
			Name: "veth", Parent: Baseline, Across: "ptp", Least: true, Fidelity: SamePath, Bare: true, IPv6: true,
			Doc:     "a namespace on one veth pair, routed: the least any container costs",
			Paths:   []string{SameHost, ContainerToOwnHost},
			Missing: "veth devices", Get: "modprobe veth",
		},
		{
			Name: "bridge", Parent: "veth", Across: "route", Fidelity: SamePath, Bare: true, IPv6: true,
			Doc:     "Linux bridge per host, a veth pair per container",
			Paths:   []string{SameHost, ContainerToOwnHost},
			Missing: "the kernel's bridge", Get: "modprobe bridge",
		},
		{
			Name: "nat", Parent: "bridge", Fidelity: SamePath, Bare: true, IPv6: true, Outside: true,
			Doc:     "bridge + nftables masquerade and DNAT of a published port (what Docker does)",
			Facts:   Facts{NAT: true},
			Paths:   []string{PublishedPort, ContainerToPublishedPort},
			Missing: "nftables with NAT", Get: "modprobe nft_chain_nat nft_masq",
		},
		{
			Name: "proxy", Parent: "bridge", Fidelity: SamePath, Bare: true, IPv6: true, Outside: true,
			Doc:     "bridge + a userspace relay of the published port (what docker-proxy does)",
			Facts:   Facts{Relays: true},
			Paths:   []string{PublishedPort, ContainerToPublishedPort},
			Missing: "the kernel's bridge", Get: "modprobe bridge",
		},
		{
			Name: "macvlan", Parent: Baseline, Fidelity: SamePath, Bare: true, IPv6: true, Outside: true,
			Doc:     "macvlan on the underlay, bridge mode",
			Facts:   Facts{NeedsL2: true},
			Paths:   []string{SameHost, CrossHost},
			Missing: "macvlan devices", Get: "modprobe macvlan",
		},
	}
}
