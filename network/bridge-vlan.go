package network

import (
	"strconv"

	"tare/lab"
	"tare/wire"
)

// bridgeVLAN is one layer-2 network over all hosts: a bridge per host whose
// uplink is a VLAN of the underlay.
func bridgeVLAN() Network {
	return Network{
		Name:     "bridge-vlan",
		Doc:      "bridge per host with VLAN " + strconv.Itoa(vlanID) + " of the underlay as its uplink",
		Parent:   "bridge",
		Fidelity: SamePath,
		Facts:    Facts{NeedsL2: true, Kernel: "8021q"},
		Stack:    wire.VLAN(),
		Paths:    []string{SameHost, CrossHost, HostToContainer},
		Needs:    needsVLAN(),
		Missing:  "VLAN devices",
		Get:      "modprobe 8021q",
		Lay:      layBridgeVLAN,
	}
}

func layBridgeVLAN(u *lab.Underlay, l *Laying) error {
	if err := layVLANBridges(u, l); err != nil {
		return err
	}
	return l.populate(u, oneSubnet(u.Spec.MTU).plug)
}

// layVLANBridges lays all but the containers.
func layVLANBridges(u *lab.Underlay, l *Laying) error {
	return eachHost(u, func(h *lab.Host) error {
		if err := oneSubnet(u.Spec.MTU).lay(h); err != nil {
			return err
		}
		if err := addVLAN(u, h, l); err != nil {
			return err
		}
		return h.SetMaster(vlanDevice, bridgeName)
	})
}
