package kinds

import (
	"net/netip"

	"tare/catalog"
	"tare/engine/docker"
	"tare/lab"
	"tare/network"
)

// dockerNAT is a port that Docker publishes by DNAT.
func dockerNAT() network.Network {
	return network.Network{
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
func setUpDockerNAT(cluster *lab.Cluster, setup *network.Setup) error {
	err := network.EachHost(cluster, func(h *lab.Host) error {
		return h.AddAddress(lab.Device, netip.PrefixFrom(publishedAddr(h), 32))
	})
	if err != nil {
		return err
	}
	return runDockers(cluster, setup, func(c *lab.Container) docker.Container {
		return docker.Container{At: publishedAddr(c.Host), Ports: setup.Published(c)}
	})
}

// publishedEnds are the ends on hosts that publish ports at their second addresses.
func publishedEnds(cluster *lab.Cluster, path string) (network.Ends, error) {
	ends, err := network.UsualEnds(cluster, path)
	if err == nil && catalog.ByPublishedPort(path) {
		ends.Dial = publishedAddr(cluster.Hosts[1])
	}
	return ends, err
}

// publishedAddr is a second address of a host, at which it publishes a port.
func publishedAddr(h *lab.Host) netip.Addr { return lab.UnderlayAddr(0, 512+h.Number) }
