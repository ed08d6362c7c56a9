package network

import (
	"fmt"

	"tare/engine/podman"
	"tare/lab"
)

// podmanRootless is Podman's network of containers of a user without root: slirp4netns, and
// rootlessport for their published ports.
func podmanRootless() Network {
	return Network{
		Needs: append(podman.Needs(), tunNeed(), needSlirp4netns()),
		Cycle: podman.Cycle,
		SetUp: setUpPodmanRootless,
		Try:   func(cluster *lab.Cluster, _ *Setup) error { return podman.Try(cluster.Hosts[0]) },
	}
}

func setUpPodmanRootless(cluster *lab.Cluster, setup *Setup) error {
	if err := allHosts(cluster, podman.Start); err != nil {
		return err
	}
	return setup.populate(cluster, func(c *lab.Container) error {
		if err := checkRootless(c); err != nil {
			return err
		}
		return podman.Run(c, podman.Container{
			Name: c.Short, Addr: rootlessAddr(c, 100), At: c.Host.Addr, Ports: setup.published(c),
			Network: fmt.Sprintf("slirp4netns:mtu=%s,cidr=%s/24", setup.tapMTU(), rootlessAddr(c, 0)),
		})
	})
}
