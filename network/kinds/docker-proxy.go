package kinds

import (
	"tare/engine/docker"
	"tare/lab"
	"tare/network"
)

// dockerProxy is a port that Docker publishes by docker-proxy alone.
func dockerProxy() network.Network {
	return network.Network{
		Needs: docker.Needs(),
		Cycle: docker.Cycle,
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			if err := startDockers(cluster, setup, docker.NoRules, "--userland-proxy=true"); err != nil {
				return err
			}
			// Without rules nothing is masqueraded, so hosts need routes for the replies.
			if err := network.RouteBetweenHosts(cluster); err != nil {
				return err
			}
			return runDockers(cluster, setup, func(c *lab.Container) docker.Container {
				return docker.Container{At: c.Host.Addr, Ports: setup.Published(c)}
			})
		},
		Try: tryDocker,
	}
}
