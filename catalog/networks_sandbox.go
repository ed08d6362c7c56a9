package catalog

// sandboxNetworks have containers that Podman or runsc runs.
func sandboxNetworks() []Network {
	return []Network{
		{
			Name: "podman-bridge", Parent: "nat", Fidelity: Product, IPv6: true, Outside: true, Runtime: "podman",
			Doc:     "Podman as root: bridge, masquerade and DNAT of a published port by netavark",
			Facts:   Facts{NAT: true, Nearby: true},
			Paths:   []string{SameHost, ContainerToOwnHost, PublishedPort, ContainerToPublishedPort},
			Missing: "the kernel's bridge, an overlay file system, or iptables with NAT", Get: "modprobe -a overlay bridge veth nft_compat xt_MASQUERADE xt_comment xt_mark xt_addrtype",
		},
		{
			Name: "podman-rootless", Parent: "slirp4netns", Fidelity: Product, Outside: true, Runtime: "podman",
			Doc:     "Podman's rootless container (before Podman 5): slirp4netns, and published ports relayed by rootlessport",
			Facts:   Facts{Relays: true, Kernel: "tun"},
			Paths:   []string{ContainerToHost, PublishedPort, ContainerToPublishedPort},
			Missing: "TUN devices, or an overlay file system", Get: "modprobe -a tun overlay",
			Params: []Param{tapMTU()},
		},
		{
			Name: "gvisor", Parent: "route", Fidelity: Product, IPv6: true, Outside: true, Sandboxed: true, Runtime: "runsc",
			Doc:     "route, its containers in gVisor's sandbox (runsc), which has a TCP/IP stack in user space (GKE Sandbox)",
			Facts:   Facts{NeedsL2: true},
			Paths:   []string{SameHost, CrossHost, HostToContainer},
			Missing: "the kernel's bridge, or what runsc needs of it (seccomp, ptrace, packet sockets)", Get: "modprobe bridge",
		},
	}
}
