package kinds

import (
	"strconv"

	"tare/catalog"
	"tare/engine/openvswitch"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

// ovsVLAN is ovs with the containers on access ports of one VLAN and a trunk
// between the hosts. The hosts' own packets travel untagged.
func ovsVLAN() network.Network {
	return network.Network{
		Needs: openvswitch.Needs(),
		Try:   tryOpenVSwitch,
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			mtu := wire.InnerMTU(cluster.Spec.MTU, wire.VLAN())
			configure := func(s *openvswitch.Switch) error {
				if err := addUplink(s, network.BridgeName, "trunks=0,"+strconv.Itoa(catalog.VLANID)); err != nil {
					return err
				}
				return s.Configure("set", "Port", network.BridgeName, "tag=0")
			}
			return setUpOpenVSwitch(cluster, setup, configure, func(s *openvswitch.Switch, c *lab.Container) error {
				return plug(s, c, mtu, overlayContainer(c.Host, c.Number), "tag="+strconv.Itoa(catalog.VLANID))
			})
		},
	}
}
