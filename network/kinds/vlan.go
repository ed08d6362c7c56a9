package kinds

import (
	"tare/catalog"
	"tare/engine"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

// vlanDevice is the host's interface on the VLAN, named as ip-link(8) does.
const vlanDevice = lab.Device + ".701"

// vlan gives containers addresses on a VLAN of the underlay, as Docker's macvlan
// driver does in 802.1Q trunk mode.
func vlan() network.Network {
	return network.Network{
		Needs: needsVLAN(),
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			if err := network.EachHost(cluster, func(h *lab.Host) error { return addVLAN(cluster, h, setup) }); err != nil {
				return err
			}
			return setup.Populate(cluster, func(c *lab.Container) error {
				return addMacvlan(c, vlanDevice, overlayAddr(c.Host, c.Number))
			})
		},
	}
}

// needsVLAN is a VLAN device: the kernel's, or one by BPF.
func needsVLAN() []engine.Need {
	return []engine.Need{network.KernelNeed("VLAN devices", "modprobe 8021q", func(ns *lab.Namespace) error {
		if err := lab.AddVeth(lab.End{In: ns, Name: lab.Device}, lab.End{In: ns, Name: "wire"}, 1500); err != nil {
			return err
		}
		if err := ns.SetUp(lab.Device); err != nil { // a VLAN's device comes up on one that is up
			return err
		}
		_, err := ns.AddVLAN(lab.VLAN{Name: vlanDevice, ID: catalog.VLANID, Device: lab.Device, MTU: 1500})
		return err
	})}
}

// addVLAN gives a host its interface on the VLAN. Every frame that the host then
// sends has a tag, which a link must count.
func addVLAN(cluster *lab.Cluster, h *lab.Host, setup *network.Setup) error {
	if !cluster.Spec.Link.IsZero() {
		if err := h.SetLink(lab.Device, cluster.Spec.Link, wire.VLANTag); err != nil {
			return err
		}
	}
	isKernels, err := h.AddVLAN(lab.VLAN{Name: vlanDevice, ID: catalog.VLANID, Device: lab.Device, MTU: cluster.Spec.MTU})
	if err == nil && !isKernels {
		setup.StandIn("tags are pushed and popped by BPF: the kernel has no VLAN devices (modprobe 8021q)")
	}
	return err
}
