package kinds

import (
	"errors"
	"slices"

	"tare/engine/docker"
	"tare/engine/openvswitch"
	"tare/lab"
	"tare/network"
)

// dockerOVS is ovs with Docker's containers, which start without a network and get
// a port of Open vSwitch afterwards, as by ovs-docker. Its parent is docker-host,
// so that the ladder separates the engine's share from the switch's, as it does for
// Docker's own networks.
func dockerOVS() network.Network {
	return network.Network{
		Needs: slices.Concat(docker.Needs(), openvswitch.Needs()),
		Cycle: docker.Cycle,
		Try: func(cluster *lab.Cluster, setup *network.Setup) error {
			return errors.Join(tryOpenVSwitch(cluster, setup), tryDocker(cluster, setup))
		},
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			if err := startDockers(cluster, setup); err != nil {
				return err
			}
			return setUpOpenVSwitch(cluster, setup,
				func(s *openvswitch.Switch) error { return addUplink(s, network.BridgeName) },
				func(s *openvswitch.Switch, c *lab.Container) error {
					if err := runDocker(cluster, c, docker.Container{Network: "none"}); err != nil {
						return err
					}
					return plugIn(s, c, cluster.Spec.MTU, underlayContainer(c))
				})
		},
	}
}
