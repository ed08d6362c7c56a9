package network

import "tare/lab"

// dockerBridge is Docker's default network.
func dockerBridge() Network {
	return Network{
		Name:            "docker-bridge",
		Doc:             "Docker's default bridge docker0",
		Parent:          "docker-host",
		Fidelity:        Product,
		BridgeNetfilter: true,
		Paths:           []string{SameHost, ContainerToOwnHost},
		Outside:         true,
		Needs:           dockerNeeds(),
		Missing:         "what dockerd takes of the kernel",
		Get:             "modprobe -a overlay bridge veth nft_compat",
		Engine:          dockerEngine(),
		Runtime:         dockerRuntime(),
		Lay: func(u *lab.Underlay, l *Laying) error {
			noteBridgeNetfilter(u.Hosts[0], l)
			return runOn(u, l, func(*lab.Container) dockerRun { return dockerRun{} })
		},
		Try: tryDocker,
	}
}

// noteBridgeNetfilter tells that bridged packets pass no rules where they do on
// most hosts of Docker's: dockerd loads br_netfilter if it can.
func noteBridgeNetfilter(h *lab.Host, l *Laying) {
	if _, err := h.ReadSysctl(bridgeNetfilter); err != nil {
		l.Note("no-br-netfilter: bridged packets pass no rules here; on hosts where dockerd loads br_netfilter they do")
	}
}
