package network

import (
	"net/netip"

	"tare/engine/docker"
	"tare/lab"
)

// dockerNAT is a port that Docker publishes by DNAT.
func dockerNAT() Network {
	return Network{
		Name:            "docker-nat",
		Doc:             "a port published by Docker: DNAT in, masquerade out of docker0",
		Parent:          "docker-bridge",
		Facts:           Facts{NAT: true},
		Fidelity:        Product,
		BridgeNetfilter: true,
		IPv6:            true,
		Paths:           []string{PublishedPort, ContainerToPublishedPort},
		Outside:         true,
		Needs:           docker.Needs(),
		Missing:         "what dockerd needs of the kernel",
		Get:             "modprobe -a overlay bridge veth nft_compat",
		Engine:          dockerEngine(),
		Runtime:         dockerRuntime(),
		SetUp:           setUpDockerNAT,
		Try:             tryDocker,
		Ends:            publishedEnds,
		PublishedAt:     publishedAddr,
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
	if err == nil && ByPublishedPort(path) {
		ends.Dial = publishedAddr(cluster.Hosts[1])
	}
	return ends, err
}

// publishedAddr is a second address of a host, at which it publishes a port.
func publishedAddr(h *lab.Host) netip.Addr { return lab.UnderlayAddr(0, 512+h.Number) }
