package network

import (
	"net/netip"

	"tare/engine/openvswitch"
	"tare/lab"
)

// underlayBits is the length of the underlay's prefix, 10.0.0.0/16.
const underlayBits = 16

// ovs is a bridge of Open vSwitch on each host with the interface on the underlay
// in it, so that the containers of all hosts, and the hosts, are on one link. Its
// parent is veth, not bridge: the switch replaces the Linux bridge.
func ovs() Network {
	return Network{
		Needs: openvswitch.Needs(),
		Try:   tryOpenVSwitch,
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			return setUpOpenVSwitch(cluster, setup,
				func(s *openvswitch.Switch) error { return addUplink(s, bridgeName) },
				func(s *openvswitch.Switch, c *lab.Container) error {
					return plug(s, c, cluster.Spec.MTU, underlayContainer(c))
				})
		},
	}
}

// underlayContainer returns a container's address on the underlay.
func underlayContainer(c *lab.Container) netip.Prefix {
	return netip.PrefixFrom(lab.UnderlayAddr(c.Host.Number, c.Number), underlayBits)
}
