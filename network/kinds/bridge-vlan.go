package kinds

import (
	"tare/lab"
	"tare/network"
)

// bridgeVLAN is one layer-2 network over all hosts: a bridge per host whose
// uplink is a VLAN of the underlay.
func bridgeVLAN() network.Network {
	return network.Network{
		Needs: needsVLAN(),
		SetUp: setUpBridgeVLAN,
	}
}

func setUpBridgeVLAN(cluster *lab.Cluster, setup *network.Setup) error {
	if err := setUpVLANBridges(cluster, setup); err != nil {
		return err
	}
	return setup.Populate(cluster, oneSubnet(cluster.Spec.MTU).Plug)
}

// setUpVLANBridges sets up the hosts, without containers.
func setUpVLANBridges(cluster *lab.Cluster, setup *network.Setup) error {
	return network.EachHost(cluster, func(h *lab.Host) error {
		if err := oneSubnet(cluster.Spec.MTU).SetUp(h); err != nil {
			return err
		}
		if err := addVLAN(cluster, h, setup); err != nil {
			return err
		}
		return h.SetMaster(vlanDevice, network.BridgeName)
	})
}
