package kinds

import (
	"fmt"

	"tare/catalog"
	"tare/engine/docker"
	"tare/lab"
	"tare/network"
)

// dockerHost is Docker on the host's network: what the engine alone costs.
func dockerHost() network.Network {
	return network.Network{
		Needs:       docker.Needs(),
		StartEngine: startDockerEngine,
		Cycle:       docker.Cycle,
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			return runDockers(cluster, setup, func(*lab.Container) docker.Container { return docker.Container{Network: "host"} })
		},
		Try:  tryDocker,
		Ends: dockerHostEnds,
	}
}

// dockerHostEnds are the baseline's ends, with containers instead of hosts.
func dockerHostEnds(cluster *lab.Cluster, path string) (network.Ends, error) {
	ends, err := network.HostEnds(cluster, path)
	if err != nil {
		return ends, err
	}
	client, server := 1, 1
	switch path {
	case catalog.SameHost:
		server = 2
	case catalog.ContainerToOwnHost:
		server = 0
		// The real servers of the host and of its containers share one network.
		ends.Bind, ends.Dial = ends.Bind.Next(), ends.Dial.Next()
	case catalog.HostToContainer:
		client = 0
	}
	for _, end := range []struct {
		place     *string
		container int
	}{{&ends.Client, client}, {&ends.Server, server}} {
		if end.container > len(cluster.Hosts[0].Containers()) {
			return ends, fmt.Errorf("path %s needs container c%d: build the lab with more --containers", path, end.container)
		}
		if end.container > 0 {
			*end.place += fmt.Sprintf("/c%d", end.container)
		}
	}
	return ends, nil
}
