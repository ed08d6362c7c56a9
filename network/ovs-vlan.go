package network

import (
	"strconv"

	"tare/engine/openvswitch"
	"tare/lab"
	"tare/wire"
)

// ovsVLAN is ovs with the containers on access ports of one VLAN and a trunk
// between the hosts. The hosts' own packets travel untagged.
func ovsVLAN() Network {
	tag := strconv.Itoa(vlanID)
	return Network{
		Name:     "ovs-vlan",
		Doc:      "Open vSwitch per host, VLAN " + tag + " on access ports and a trunk between hosts",
		Parent:   "ovs",
		Fidelity: Product,
		Facts:    Facts{NeedsL2: true, Kernel: "openvswitch"},
		Stack:    wire.VLAN(),
		Paths:    []string{SameHost, CrossHost},
		IPv6:     true,
		Needs:    openvswitch.Needs(),
		Missing:  "Open vSwitch",
		Get:      "apt-get install openvswitch-switch",
		Try:      tryOpenVSwitch,
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			mtu := wire.InnerMTU(cluster.Spec.MTU, wire.VLAN())
			configure := func(s *openvswitch.Switch) error {
				if err := addUplink(s, bridgeName, "trunks=0,"+tag); err != nil {
					return err
				}
				return s.Configure("set", "Port", bridgeName, "tag=0")
			}
			return setUpOpenVSwitch(cluster, setup, configure, func(s *openvswitch.Switch, c *lab.Container) error {
				return plug(s, c, mtu, overlayContainer(c.Host, c.Number), "tag="+tag)
			})
		},
	}
}
