package network

import (
	"errors"

	"tare/engine/docker"
	"tare/lab"
)

// dockerMacvlan gives Docker's containers addresses on the underlay.
func dockerMacvlan() Network {
	n := dockerNetwork()
	n.Name, n.Parent = "docker-macvlan", "docker-host"
	n.BridgeNetfilter, n.Engine = true, dockerEngine()
	n.Doc = "Docker's macvlan driver on the underlay, bridge mode"
	n.Facts = Facts{NeedsL2: true}
	n.Paths = []string{SameHost, CrossHost}
	n.Missing = "macvlan devices, or what dockerd needs of the kernel"
	n.Get = "modprobe -a macvlan overlay bridge veth nft_compat"
	n.SetUp = setUpDockerMacvlan
	n.Try = func(cluster *lab.Cluster, setup *Setup) error {
		if err := macvlan().SetUp(cluster, setup); err != nil {
			return err
		}
		return tryDocker(cluster, setup)
	}
	return n
}

// setUpDockerMacvlan gives all engines the underlay's subnet. The engines know
// nothing of each other, so we choose each container's address.
func setUpDockerMacvlan(cluster *lab.Cluster, setup *Setup) error {
	name := cluster.Spec.Name
	err := allHosts(cluster, func(h *lab.Host) error {
		_, err := docker.Command(h, "network", "create", "--driver", "macvlan", "--opt", "parent="+lab.Device,
			"--subnet", "10.0.0.0/16", "--gateway", lab.UnderlayAddr(lab.MaxHosts, 1022).String(), name)
		return err
	})
	if err != nil {
		return err
	}
	err = runDockers(cluster, setup, func(c *lab.Container) docker.Container {
		return docker.Container{Network: name, Addr: lab.UnderlayAddr(c.Host.Number, c.Number)}
	})
	if err == nil {
		return nil
	}
	return errors.Join(err, allHosts(cluster, func(h *lab.Host) error {
		_, err := docker.Command(h, "network", "rm", name) // other networks share these hosts
		return err
	}))
}
