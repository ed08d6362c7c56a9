package network

import (
	"tare/engine/docker"
	"tare/lab"
)

// dockerBridge is Docker's default network.
func dockerBridge() Network {
	return Network{
		Needs:       docker.Needs(),
		StartEngine: startDockerEngine,
		Cycle:       docker.Cycle,
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			noteBridgeNetfilter(cluster.Hosts[0], setup)
			return runDockers(cluster, setup, func(*lab.Container) docker.Container { return docker.Container{} })
		},
		Try: tryDocker,
	}
}

// noteBridgeNetfilter notes that bridged packets pass no rules here. On most hosts
// they do, since dockerd loads br_netfilter if it can.
func noteBridgeNetfilter(h *lab.Host, setup *Setup) {
	if _, err := h.ReadSysctl(bridgeNetfilter); err != nil {
		setup.Note("no-br-netfilter: bridged packets pass no rules here; on hosts where dockerd loads br_netfilter they do")
	}
}
