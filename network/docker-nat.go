package network

import (
	"net/netip"

	"tare/engine/docker"
	"tare/lab"
)

// dockerNAT is a port that Docker publishes by DNAT.
func dockerNAT() Network {
	n := dockerNetwork()
	n.Name, n.Parent = "docker-nat", "docker-bridge"
	n.BridgeNetfilter, n.Engine = true, dockerEngine()
	n.Doc = "a port published by Docker: DNAT in, masquerade out of docker0"
	n.Facts = Facts{NAT: true}
	n.Paths = []string{PublishedPort, ContainerToPublishedPort}
	n.SetUp = setUpDockerNAT
	n.Ends = func(cluster *lab.Cluster, path string) (Ends, error) {
		ends, err := Network{}.EndsOf(cluster, path)
		if err == nil {
			ends.Dial = publishedAddr(cluster.Hosts[1])
		}
		return ends, err
	}
	n.PublishedAt = publishedAddr
	return n
}

// setUpDockerNAT publishes at a second address of the host: on the first one,
// containers on the host's network listen.
func setUpDockerNAT(cluster *lab.Cluster, setup *Setup) error {
	err := eachHost(cluster, func(h *lab.Host) error {
		return h.AddAddress(lab.Device, netip.PrefixFrom(publishedAddr(h), 32))
	})
	if err != nil {
		return err
	}
	return runDockers(cluster, setup, func(c *lab.Container) docker.Container {
		return docker.Container{At: publishedAddr(c.Host), Ports: setup.published(c)}
	})
}

// publishedAddr is a second address of a host, at which it publishes a port.
func publishedAddr(h *lab.Host) netip.Addr { return lab.UnderlayAddr(0, 512+h.Number) }
