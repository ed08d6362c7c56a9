package catalog

// serviceNetworks have a Kubernetes Service in front of the containers.
func serviceNetworks() []Network {
	all := []Network{
		{
			Name: "service-iptables", Called: []string{"kube-proxy"}, IPv6: true,
			Doc:     "a Kubernetes Service in front of the containers, by the rules of kube-proxy in mode iptables",
			Missing: "iptables with NAT, addrtype, comment, conntrack, mark and statistic",
			Get:     "modprobe nft_compat xt_nat xt_MASQUERADE xt_addrtype xt_comment xt_conntrack xt_mark xt_statistic",
		},
		{
			Name: "service-nftables", Called: []string{"kube-proxy"}, IPv6: true,
			Doc:     "a Kubernetes Service in front of the containers, by the rules of kube-proxy in mode nftables",
			Missing: "nftables with NAT, fib, numgen and maps of concatenations",
			Get:     "modprobe nft_chain_nat nft_masq nft_nat nft_numgen nft_reject_ipv4",
		},
		{
			Name: "service-ipvs", Called: []string{"kube-proxy"},
			Doc:     "a Kubernetes Service in front of the containers, by IPVS as kube-proxy's mode ipvs sets it up (deprecated since Kubernetes 1.35)",
			Missing: "IPVS, and sets of addresses in iptables",
			Get:     "modprobe dummy ip_vs_rr xt_set ip_set_hash_ipport ip_set_hash_ipportip ip_set_bitmap_port nft_compat xt_addrtype xt_mark xt_MASQUERADE",
		},
	}
	for n := range all {
		one := &all[n]
		one.Parent, one.Fidelity, one.Outside = "route", SamePath, true
		one.Facts = Facts{NAT: true, NeedsL2: true}
		one.Paths = []string{ClusterIP, HostToClusterIP, NodePort, ContainerToNodePort}
		one.Params = []Param{
			{Name: Services, Doc: "Services that the hosts have rules for, the measured one among them (default 1); of a cluster: Services besides", Least: 1, Most: mostServices, List: true},
			{Name: Backends, Doc: "endpoints of the measured Service (default 1)", Least: 1, Most: mostBackends, List: true},
			{Name: ServiceAt, Doc: "where the measured Service's rules are among those of the others", Values: []string{InTheMiddle, AtFirst, AtLast}, List: true},
		}
	}
	return all
}
