package kinds

import (
	"net/netip"

	"tare/engine"
	"tare/engine/podman"
	"tare/lab"
	"tare/network"
)

// podmanBridge is Podman's network of root's containers: a bridge, and ports published by DNAT.
func podmanBridge() network.Network {
	return network.Network{
		Needs: append(podman.Needs(), podman.NeedNetavark(), engine.NeedProgram("iptables", "iptables", "--version")),
		Cycle: podman.Cycle,
		SetUp: setUpPodmanBridge,
		Try: func(cluster *lab.Cluster, setup *network.Setup) error {
			if err := setUpBridge(cluster, setup); err != nil {
				return err
			}
			return podman.Try(cluster.Hosts[0])
		},
		Ends:        publishedEnds,
		PublishedAt: secondAddr,
	}
}

// podmanNetwork is the name of Podman's network.
const podmanNetwork = "lab"

// setUpPodmanBridge publishes at a second address of the host, since Podman keeps a published
// port of an address from all other processes.
func setUpPodmanBridge(cluster *lab.Cluster, setup *network.Setup) error {
	err := network.AllHosts(cluster, func(h *lab.Host) error {
		if err := h.AddAddress(lab.Device, netip.PrefixFrom(secondAddr(h), 32)); err != nil {
			return err
		}
		if err := podman.Start(h); err != nil {
			return err
		}
		return podman.AddBridge(h, podmanNetwork, cluster.Spec.MTU)
	})
	if err != nil {
		return err
	}
	return setup.Populate(cluster, func(c *lab.Container) error {
		return podman.Run(c, podman.Container{Name: c.Short, Network: podmanNetwork, At: secondAddr(c.Host), Ports: setup.Published(c)})
	})
}
