package catalog

// containerdNetworks attach containers by CNI plugins.
func containerdNetworks() []Network {
	return []Network{
		{
			Name: "containerd-bridge", Called: []string{"nerdctl", "cri"}, Parent: "route", Fidelity: Product, IPv6: true, Outside: true, Runtime: "containerd",
			Doc:     "containerd, pods by the CRI API, CNI bridge (isGateway, ipMasq, promiscMode), static routes",
			Facts:   Facts{NAT: true, Nearby: true, NeedsL2: true},
			Paths:   []string{SamePod, SameHost, CrossHost, HostToContainer, PublishedPort, ContainerToPublishedPort},
			Missing: "the kernel's bridge, or iptables with NAT", Get: "modprobe -a bridge overlay nft_compat xt_MASQUERADE xt_comment",
			Params: []Param{
				{Name: IPMasq, Doc: "masquerade what leaves the containers' network", Values: []string{On, Off}, List: true},
				{Name: PromiscMode, Doc: "CNI bridge in promiscuous mode", Values: []string{On, Off}, List: true},
			},
		},
		{
			Name: "cni", Parent: Baseline, Fidelity: Product, IPv6: true, Outside: true,
			Doc:     "any CNI configuration list (--cni FILE), by its own plugins; without one: bridge and portmap",
			Facts:   Facts{NAT: true, Nearby: true, NeedsL2: true}, // tare adds the routes between hosts
			Paths:   []string{SameHost, ContainerToOwnHost, CrossHost, HostToContainer, PublishedPort, ContainerToPublishedPort},
			Missing: "what the CNI plugins need of the kernel", Get: "modprobe -a bridge nft_compat xt_MASQUERADE xt_comment",
			Params: []Param{
				{Name: CNIFile, Doc: "CNI configuration list, a template; a comma list weighs each", List: true, Typed: true},
				{Name: CNIBin, Doc: "folder of CNI plugins, looked in first", Typed: true},
				backend(),
			},
		},
	}
}
