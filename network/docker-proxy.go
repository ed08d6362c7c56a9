package network

import (
	"tare/engine/docker"
	"tare/lab"
)

// dockerProxy is a port that Docker publishes by docker-proxy alone.
func dockerProxy() Network {
	n := dockerNetwork()
	n.Name, n.Parent = "docker-proxy", "docker-bridge"
	n.Doc = "a port published by docker-proxy: Docker with --iptables=false --userland-proxy=true"
	n.Facts = Facts{Relays: true}
	n.Paths = []string{PublishedPort, ContainerToPublishedPort}
	n.SetUp = func(cluster *lab.Cluster, setup *Setup) error {
		if err := startDockers(cluster, "--iptables=false", "--userland-proxy=true"); err != nil {
			return err
		}
		// Without rules nothing is masqueraded, so hosts need routes for the replies.
		if err := routeBetweenHosts(cluster); err != nil {
			return err
		}
		return runDockers(cluster, setup, func(c *lab.Container) docker.Container {
			return docker.Container{At: c.Host.Addr, Ports: setup.published(c)}
		})
	}
	return n
}
