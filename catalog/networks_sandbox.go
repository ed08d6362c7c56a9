package catalog

// sandboxNetworks have containers that Podman or runsc runs.
func sandboxNetworks() []Network {
	return []Network{
		{
			Name:     "podman-bridge",
			Doc:      "Podman as root: bridge, masquerade and DNAT of a published port by netavark",
			Parent:   "nat",
			Fidelity: Product,
			Facts:    Facts{NAT: true},
			Paths:    []string{SameHost, ContainerToOwnHost, PublishedPort, ContainerToPublishedPort},
			Outside:  true,
			IPv6:     true,
			Missing:  "the kernel's bridge, an overlay file system, or iptables with NAT",
			Get:      "modprobe -a overlay bridge veth nft_compat xt_MASQUERADE xt_comment xt_mark xt_addrtype",
			Runtime:  "podman",
		},
		{
			Name:     "podman-rootless",
			Doc:      "Podman's rootless container (before Podman 5): slirp4netns, and published ports relayed by rootlessport",
			Parent:   "slirp4netns",
			Fidelity: Product,
			Facts:    Facts{Relays: true, Kernel: "tun"},
			Paths:    []string{PublishedPort, ContainerToPublishedPort},
			Outside:  true,
			Missing:  "TUN devices, or an overlay file system",
			Get:      "modprobe -a tun overlay",
			Runtime:  "podman",
			Params:   []Param{tapMTU()},
		},
		{
			Name:     "gvisor",
			Doc:      "route, its containers in gVisor's sandbox (runsc), which has a TCP/IP stack in user space (GKE Sandbox)",
			Parent:   "route",
			Fidelity: Product,
			Facts:    Facts{NeedsL2: true},
			Paths:    []string{SameHost, CrossHost, HostToContainer},
			IPv6:     true,
			Outside:  true, Sandboxed: true,
			Missing: "the kernel's bridge, or what runsc needs of it (seccomp, ptrace, packet sockets)",
			Get:     "modprobe bridge",
			Runtime: "runsc",
		},
	}
}
