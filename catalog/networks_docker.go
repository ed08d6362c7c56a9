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
	return "kill $(cat " + DockerFolder + "/dockerd.pid) && for try in $(seq 200); do sleep 0.1; { iptables -t nat -S DOCKER || nft list table ip docker-bridges; } >/dev/null 2>&1 && break; done"
}

// dockerVersion is which of the machine's engines runs.
func dockerVersion() Param {
	return Param{Name: DockerVersion, Doc: "how Docker's version begins: 29 is built by make parts (default: the machine's)", List: true}
}

// dockerParams are those of an engine that several networks share.
func dockerParams() []Param {
	return []Param{
		dockerVersion(),
		backend(),
		{Name: UserlandProxy, Doc: "whether a process of Docker's has each published port too", Values: []string{On, Off}, List: true},
	}
}

// dockerNetworks are those that dockerd makes.
func dockerNetworks() []Network {
	return []Network{
		{
			Name: "docker-host", Parent: Baseline, Fidelity: Product, IPv6: true, Outside: true, BridgeNetfilter: true, Engine: Docker, Runtime: Docker,
			Doc:     "Docker containers on the host's own network: the engine's share (seccomp, cgroups, its rules)",
			Facts:   Facts{OnHost: true},
			Paths:   []string{SameHost, ContainerToOwnHost, CrossHost, HostToContainer},
			Missing: "what dockerd needs of the kernel", Get: "modprobe -a overlay bridge veth nft_compat",
			Params: dockerParams(),
		},
		{
			Name: "docker-bridge", Parent: "docker-host", Fidelity: Product, IPv6: true, Outside: true, BridgeNetfilter: true, Engine: Docker, Runtime: Docker,
			Doc:     "Docker's default bridge docker0",
			Paths:   []string{SameHost, ContainerToOwnHost},
			Missing: "what dockerd needs of the kernel", Get: "modprobe -a overlay bridge veth nft_compat",
			Params: dockerParams(),
		},
		{
			Name: "docker-nat", Parent: "docker-bridge", Fidelity: Product, IPv6: true, Outside: true, BridgeNetfilter: true, Engine: Docker, Runtime: Docker,
			Doc:     "a port published by Docker: DNAT in, masquerade out of docker0",
			Facts:   Facts{NAT: true, Nearby: true},
			Paths:   []string{PublishedPort, ContainerToPublishedPort},
			Missing: "what dockerd needs of the kernel", Get: "modprobe -a overlay bridge veth nft_compat",
			Params: append(dockerParams(), Param{Name: Ports, Doc: "ports that each container publishes besides those of its servers (default 0)", Most: mostPorts, List: true}),
		},
		{
			Name: "docker-macvlan", Parent: "docker-host", Fidelity: Product, IPv6: true, Outside: true, BridgeNetfilter: true, Engine: Docker, Runtime: Docker,
			Doc:     "Docker's macvlan driver on the underlay, bridge mode",
			Facts:   Facts{NeedsL2: true},
			Paths:   []string{SameHost, CrossHost},
			Missing: "macvlan devices, or what dockerd needs of the kernel", Get: "modprobe -a macvlan overlay bridge veth nft_compat",
			Params: dockerParams(),
		},
		{
			Name: "docker-proxy", Parent: "docker-bridge", Fidelity: Product, IPv6: true, Outside: true, Runtime: Docker,
			Doc:     "a port published by docker-proxy: Docker with --iptables=false --userland-proxy=true",
			Facts:   Facts{Relays: true},
			Paths:   []string{PublishedPort, ContainerToPublishedPort},
			Missing: "what dockerd needs of the kernel", Get: "modprobe -a overlay bridge veth nft_compat",
			Params: []Param{dockerVersion()},
		},
		{
			Name: "docker-overlay", Called: []string{"swarm"}, Parent: "docker-bridge", Fidelity: Product, Outside: true, Runtime: Docker,
			Doc:   "Docker Swarm's attachable overlay: bridge + VXLAN in a namespace of Docker's, container MTU = underlay - 50",
			Facts: Facts{Kernel: "vxlan"}, Stack: wire.VXLAN(),
			Paths:   []string{SameHost, CrossHost},
			Missing: "VXLAN devices, or what dockerd needs of the kernel", Get: "modprobe -a vxlan overlay bridge veth nft_compat",
			Params: []Param{dockerVersion()},
		},
	}
}
