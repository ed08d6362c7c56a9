package network

import (
	"tare/engine/docker"
	"tare/lab"
)

// dockerProxy is a port that Docker publishes by docker-proxy alone.
func dockerProxy() Network {
	return Network{
		Needs: docker.Needs(),
		Cycle: docker.Cycle,
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			if err := startDockers(cluster, docker.NoRules, "--userland-proxy=true"); err != nil {
				return err
			}
			// Without rules nothing is masqueraded, so hosts need routes for the replies.
			if err := routeBetweenHosts(cluster); err != nil {
				return err
			}
			return runDockers(cluster, setup, func(c *lab.Container) docker.Container {
				return docker.Container{At: c.Host.Addr, Ports: setup.published(c)}
			})
		},
		Try: tryDocker,
	}
}
