package kinds

import (
	"fmt"

	"tare/engine/podman"
	"tare/lab"
	"tare/network"
)

// podmanRootless is Podman's network of containers of a user without root: slirp4netns, and
// rootlessport for their published ports.
func podmanRootless() network.Network {
	return network.Network{
		Needs: append(podman.Needs(), tunNeed(), needSlirp4netns()),
		Cycle: podman.Cycle,
		SetUp: setUpPodmanRootless,
		Try:   func(cluster *lab.Cluster, _ *network.Setup) error { return podman.Try(cluster.Hosts[0]) },
		Ends:  rootlessEnds,
	}
}

func setUpPodmanRootless(cluster *lab.Cluster, setup *network.Setup) error {
	if err := addServers(cluster, setup); err != nil {
		return err
	}
	if err := network.AllHosts(cluster, podman.Start); err != nil {
		return err
	}
	return setup.Populate(cluster, func(c *lab.Container) error {
		if err := checkRootless(c); err != nil {
			return err
		}
		return podman.Run(c, podman.Container{
			Name: c.Short, Addr: rootlessAddr(c, 100), At: c.Host.Addr, Ports: setup.Published(c),
			Network: fmt.Sprintf("slirp4netns:mtu=%s,cidr=%s/24", tapMTU(setup), rootlessAddr(c, 0)),
		})
	})
}
