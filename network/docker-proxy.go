package network

import (
	"tare/engine/docker"
	"tare/lab"
)

// dockerProxy is a port that Docker publishes by docker-proxy alone.
func dockerProxy() Network {
	return Network{
		Name:     "docker-proxy",
		Doc:      "a port published by docker-proxy: Docker with --iptables=false --userland-proxy=true",
		Parent:   "docker-bridge",
		Facts:    Facts{Relays: true},
		Fidelity: Product,
		Paths:    []string{PublishedPort, ContainerToPublishedPort},
		Outside:  true,
		IPv6:     true,
		Needs:    docker.Needs(),
		Runtime:  dockerRuntime(),
		Missing:  "what dockerd needs of the kernel",
		Get:      "modprobe -a overlay bridge veth nft_compat",
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
