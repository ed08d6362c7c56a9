package kinds

import (
	"fmt"
	"net/netip"
	"strconv"

	"tare/catalog"
	"tare/engine"
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
		PublishedAt: secondAddr,
	}
}

// setUpDockerNAT publishes at a second address of the host: on the first one,
// containers on the host's network listen.
func setUpDockerNAT(cluster *lab.Cluster, setup *network.Setup) error {
	err := network.EachHost(cluster, func(h *lab.Host) error {
		return h.AddAddress(lab.Device, netip.PrefixFrom(secondAddr(h), 32))
	})
	if err != nil {
		return err
	}
	further, err := furtherPorts(setup)
	if err != nil {
		return err
	}
	return runDockers(cluster, setup, func(c *lab.Container) docker.Container {
		return docker.Container{At: secondAddr(c.Host), Ports: append(setup.Published(c), further(c)...)}
	})
}

// Further ports that containers publish are between those of containers that are attached later and
// the kernel's ephemeral ports.
const (
	firstFurther = 21024
	lastFurther  = 32767
)

// furtherPorts gives what a container publishes besides the ports of its servers, as was asked for.
func furtherPorts(setup *network.Setup) (func(c *lab.Container) []engine.Port, error) {
	each, _ := strconv.Atoi(setup.Params[catalog.Ports]) // absent: none were asked for
	if room := lastFurther - firstFurther + 1; each*(setup.Containers+1) > room {
		return nil, fmt.Errorf("publish %d ports of each of %d containers: a host has %d for them: ask for fewer ports or containers", each, setup.Containers, room)
	}
	return func(c *lab.Container) (all []engine.Port) {
		for n := range each {
			port := uint16(firstFurther + (c.Number-1)*each + n)
			all = append(all, engine.Port{Protocol: "tcp", Host: port, Container: port})
		}
		return all
	}, nil
}

// publishedEnds are the ends on hosts that publish ports at their second addresses.
func publishedEnds(cluster *lab.Cluster, path string) (network.Ends, error) {
	ends, err := network.UsualEnds(cluster, path)
	if err == nil && catalog.ByPublishedPort(path) {
		ends.Dial = secondAddr(cluster.Hosts[1])
	}
	return ends, err
}

// secondAddr is a second address of a host, for ports that something else has at the first.
func secondAddr(h *lab.Host) netip.Addr { return lab.UnderlayAddr(0, 512+h.Number) }
