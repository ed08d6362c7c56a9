package kinds

import (
	"errors"
	"net/netip"

	"tare/catalog"
	"tare/engine/docker"
	"tare/lab"
	"tare/network"
)

// dockerMacvlan gives Docker's containers addresses on the underlay.
func dockerMacvlan() network.Network {
	return network.Network{
		Needs:       docker.Needs(),
		StartEngine: startDockerEngine,
		Cycle:       docker.Cycle,
		SetUp:       setUpDockerMacvlan,
		Try: func(cluster *lab.Cluster, setup *network.Setup) error {
			if err := macvlan().SetUp(cluster, setup); err != nil {
				return err
			}
			return tryDocker(cluster, setup)
		},
	}
}

// setUpDockerMacvlan gives all engines the underlay's subnet. The engines know
// nothing of each other, so we choose each container's address.
func setUpDockerMacvlan(cluster *lab.Cluster, setup *network.Setup) error {
	name := cluster.Spec.Name
	err := network.AllHosts(cluster, func(h *lab.Host) error {
		args := []string{"network", "create", "--driver", "macvlan", "--opt", "parent=" + lab.Device}
		gateway := netip.PrefixFrom(lab.UnderlayAddr(catalog.MaxHosts, 1022), 16)
		args = append(args, "--subnet", gateway.Masked().String(), "--gateway", gateway.Addr().String())
		if six := lab.IPv6PrefixOf(gateway); h.At().Is6() {
			args = append(args, "--ipv6", "--subnet", six.Masked().String(), "--gateway", six.Addr().String())
		}
		_, err := docker.Command(h, append(args, name)...)
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
	return errors.Join(err, network.AllHosts(cluster, func(h *lab.Host) error {
		_, err := docker.Command(h, "network", "rm", name) // other networks share these hosts
		return err
	}))
}
