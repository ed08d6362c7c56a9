package catalog

// containerdNetworks attach containers by CNI plugins.
func containerdNetworks() []Network {
	return []Network{
		{
			Name:     "containerd-bridge",
			Doc:      "containerd, pods by the CRI API, CNI bridge (isGateway, ipMasq, promiscMode), static routes",
			Parent:   "route",
			Fidelity: Product,
			Facts:    Facts{NAT: true, NeedsL2: true},
			Paths:    []string{SamePod, SameHost, CrossHost, HostToContainer, PublishedPort, ContainerToPublishedPort},
			Outside:  true,
			IPv6:     true,
			Missing:  "the kernel's bridge, or iptables with NAT",
			Get:      "modprobe -a bridge overlay nft_compat xt_MASQUERADE xt_comment",
			Runtime:  "containerd",
			Params: []Param{
				{Name: IPMasq, Doc: "masquerade what leaves the containers' network", Values: []string{On, Off}, List: true},
				{Name: PromiscMode, Doc: "CNI bridge in promiscuous mode", Values: []string{On, Off}, List: true},
			},
		},
		{
			Name:     "cni",
			Doc:      "any CNI configuration list (--cni FILE), by its own plugins; without one: bridge and portmap",
			Parent:   Baseline,
			Facts:    Facts{NAT: true, NeedsL2: true}, // tare adds the routes between hosts
			Fidelity: Product,
			Paths:    []string{SameHost, ContainerToOwnHost, CrossHost, HostToContainer, PublishedPort, ContainerToPublishedPort},
			Outside:  true,
			IPv6:     true,
			Missing:  "what the CNI plugins need of the kernel",
			Get:      "modprobe -a bridge nft_compat xt_MASQUERADE xt_comment",
			Params: []Param{
				{Name: CNIFile, Doc: "CNI configuration list, a template; a comma list weighs each", List: true, Typed: true},
				{Name: CNIBin, Doc: "folder of CNI plugins, looked in first", Typed: true},
			},
		},
	}
}
