package catalog

import "tare/wire"

// DockerFolder is where the engine of a lab's host keeps its files.
const DockerFolder = "/run/tare/docker"

// DockerRestart is a shell command that does in a host of a lab what "systemctl
// restart docker" does on a machine. It is empty if the network's containers would
// not survive it.
func (n Network) DockerRestart() string {
	if n.Engine != Docker {
		return ""
	}
	return "kill $(cat " + DockerFolder + "/dockerd.pid) && for try in $(seq 200); do sleep 0.1; iptables -t nat -S DOCKER >/dev/null 2>&1 && break; done"
}

// dockerNetworks are those that dockerd makes.
func dockerNetworks() []Network {
	return []Network{
		{
			Name:            "docker-host",
			Doc:             "Docker containers on the host's own network: the engine's share (seccomp, cgroups, its rules)",
			Parent:          Baseline,
			Fidelity:        Product,
			Facts:           Facts{OnHost: true},
			BridgeNetfilter: true,
			IPv6:            true,
			Paths:           []string{SameHost, ContainerToOwnHost, CrossHost, HostToContainer},
			Outside:         true,
			Missing:         "what dockerd needs of the kernel",
			Get:             "modprobe -a overlay bridge veth nft_compat",
			Engine:          Docker,
			Runtime:         Docker,
		},
		{
			Name:            "docker-bridge",
			Doc:             "Docker's default bridge docker0",
			Parent:          "docker-host",
			Fidelity:        Product,
			BridgeNetfilter: true,
			IPv6:            true,
			Paths:           []string{SameHost, ContainerToOwnHost},
			Outside:         true,
			Missing:         "what dockerd needs of the kernel",
			Get:             "modprobe -a overlay bridge veth nft_compat",
			Engine:          Docker,
			Runtime:         Docker,
		},
		{
			Name:            "docker-nat",
			Doc:             "a port published by Docker: DNAT in, masquerade out of docker0",
			Parent:          "docker-bridge",
			Facts:           Facts{NAT: true},
			Fidelity:        Product,
			BridgeNetfilter: true,
			IPv6:            true,
			Paths:           []string{PublishedPort, ContainerToPublishedPort},
			Outside:         true,
			Missing:         "what dockerd needs of the kernel",
			Get:             "modprobe -a overlay bridge veth nft_compat",
			Engine:          Docker,
			Runtime:         Docker,
		},
		{
			Name:            "docker-macvlan",
			Doc:             "Docker's macvlan driver on the underlay, bridge mode",
			Parent:          "docker-host",
			Fidelity:        Product,
			Facts:           Facts{NeedsL2: true},
			BridgeNetfilter: true,
			IPv6:            true,
			Paths:           []string{SameHost, CrossHost},
			Outside:         true,
			Missing:         "macvlan devices, or what dockerd needs of the kernel",
			Get:             "modprobe -a macvlan overlay bridge veth nft_compat",
			Engine:          Docker,
			Runtime:         Docker,
		},
		{
			Name:     "docker-proxy",
			Doc:      "a port published by docker-proxy: Docker with --iptables=false --userland-proxy=true",
			Parent:   "docker-bridge",
			Facts:    Facts{Relays: true},
			Fidelity: Product,
			Paths:    []string{PublishedPort, ContainerToPublishedPort},
			Outside:  true,
			IPv6:     true,
			Runtime:  Docker,
			Missing:  "what dockerd needs of the kernel",
			Get:      "modprobe -a overlay bridge veth nft_compat",
		},
		{
			Name:     "docker-overlay",
			Doc:      "Docker Swarm's attachable overlay: bridge + VXLAN in a namespace of Docker's, container MTU = underlay - 50",
			Parent:   "docker-bridge",
			Fidelity: Product,
			Facts:    Facts{Kernel: "vxlan"},
			Stack:    wire.VXLAN(),
			Paths:    []string{SameHost, CrossHost},
			Outside:  true,
			Runtime:  Docker,
			Missing:  "VXLAN devices, or what dockerd needs of the kernel",
			Get:      "modprobe -a vxlan overlay bridge veth nft_compat",
		},
	}
}
