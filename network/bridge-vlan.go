package network

import "tare/lab"

// bridgeVLAN is one layer-2 network over all hosts: a bridge per host whose
// uplink is a VLAN of the underlay.
func bridgeVLAN() Network {
	return Network{
		Needs: needsVLAN(),
		SetUp: setUpBridgeVLAN,
	}
}

func setUpBridgeVLAN(cluster *lab.Cluster, setup *Setup) error {
	if err := setUpVLANBridges(cluster, setup); err != nil {
		return err
	}
	return setup.populate(cluster, oneSubnet(cluster.Spec.MTU).plug)
}

// setUpVLANBridges sets up the hosts, without containers.
func setUpVLANBridges(cluster *lab.Cluster, setup *Setup) error {
	return eachHost(cluster, func(h *lab.Host) error {
		if err := oneSubnet(cluster.Spec.MTU).setUp(h); err != nil {
			return err
		}
		if err := addVLAN(cluster, h, setup); err != nil {
			return err
		}
		return h.SetMaster(vlanDevice, bridgeName)
	})
}
