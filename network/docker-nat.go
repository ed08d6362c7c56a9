package network

import (
	"net/netip"

	"tare/catalog"
	"tare/engine/docker"
	"tare/lab"
)

// dockerNAT is a port that Docker publishes by DNAT.
func dockerNAT() Network {
	return Network{
		Needs:       docker.Needs(),
		StartEngine: startDockerEngine,
		Cycle:       docker.Cycle,
		SetUp:       setUpDockerNAT,
		Try:         tryDocker,
		Ends:        publishedEnds,
		PublishedAt: publishedAddr,
	}
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

// publishedEnds are the ends on hosts that publish ports at their second addresses.
func publishedEnds(cluster *lab.Cluster, path string) (Ends, error) {
	ends, err := usualEnds(cluster, path)
	if err == nil && catalog.ByPublishedPort(path) {
		ends.Dial = publishedAddr(cluster.Hosts[1])
	}
	return ends, err
}

// publishedAddr is a second address of a host, at which it publishes a port.
func publishedAddr(h *lab.Host) netip.Addr { return lab.UnderlayAddr(0, 512+h.Number) }
