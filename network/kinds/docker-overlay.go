package kinds

import (
	"tare/engine/docker"
	"tare/lab"
	"tare/network"
)

// overlaySubnet is the network of the containers.
const overlaySubnet = "10.220.0.0/16"

// dockerOverlay is Swarm's overlay network with plain containers.
func dockerOverlay() network.Network {
	return network.Network{
		Needs: docker.Needs(),
		Cycle: docker.Cycle,
		SetUp: setUpDockerOverlay,
		Try: func(cluster *lab.Cluster, setup *network.Setup) error {
			if err := vxlan().SetUp(cluster, setup); err != nil {
				return err
			}
			return docker.Try(cluster.Hosts[0])
		},
	}
}

func setUpDockerOverlay(cluster *lab.Cluster, setup *network.Setup) error {
	if err := startDockers(cluster, setup); err != nil {
		return err
	}
	if err := network.AddNeighbours(cluster); err != nil { // each member gossips with every other
		return err
	}
	if err := docker.JoinSwarm(cluster.Hosts); err != nil {
		return err
	}
	name := cluster.Spec.Name
	if err := docker.CreateOverlay(cluster.Hosts[0], name, overlaySubnet, cluster.Spec.MTU); err != nil {
		return err
	}
	if err := runDockers(cluster, setup, func(*lab.Container) docker.Container { return docker.Container{Network: name} }); err != nil {
		return err
	}
	return awaitNames(cluster)
}

// awaitNames waits until Docker's name server, in the first container of each
// host, resolves the first container of the next host.
func awaitNames(cluster *lab.Cluster) error {
	return network.AllHosts(cluster, func(h *lab.Host) error {
		next := cluster.Hosts[h.Number%len(cluster.Hosts)]
		if len(h.Containers()) == 0 || len(next.Containers()) == 0 {
			return nil
		}
		return docker.AwaitName(h, dockerName(cluster, h, 1), dockerName(cluster, next, 1), next.Containers()[0].Addr)
	})
}
