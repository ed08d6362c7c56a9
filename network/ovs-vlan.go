package network

import (
	"strconv"

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
		Needs:    needsOpenVSwitch(),
		Missing:  "Open vSwitch",
		Get:      "apt-get install openvswitch-switch",
		Try:      tryOpenVSwitch,
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
			mtu := wire.InnerMTU(cluster.Spec.MTU, wire.VLAN())
			lay := func(s *openVSwitch) error {
				if err := s.addUplink(bridgeName, "trunks=0,"+tag); err != nil {
					return err
				}
				return s.vsctl("set", "Port", bridgeName, "tag=0")
			}
			return setUpOpenVSwitch(cluster, setup, lay, func(s *openVSwitch, c *lab.Container) error {
				return s.plug(bridgeName, c, mtu, overlayContainer(c.Host, c.Number), "tag="+tag)
			})
		},
	}
}
