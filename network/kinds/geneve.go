package kinds

import (
	"tare/engine"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

const (
	geneveVNI  = 42
	genevePort = 6081 // RFC 8926
)

// geneve is one layer-2 network over all hosts: a bridge per host, and on it a
// Geneve device for each other host. The bridges learn.
func geneve() network.Network {
	return network.Network{
		Needs: []engine.Need{network.KernelNeed("Geneve devices", "modprobe geneve", func(ns *lab.Namespace) error {
			return ns.AddGeneve(lab.Tunnel{Name: "try", Remote: lab.UnderlayAddr(0, 2), VNI: geneveVNI, Port: genevePort, MTU: 1450})
		})},
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			mtu := wire.InnerMTU(cluster.Spec.MTU, wire.Geneve())
			b := oneSubnet(mtu)
			err := network.EachHost(cluster, func(h *lab.Host) error {
				if err := b.SetUp(h); err != nil {
					return err
				}
				return plugGeneve(cluster, h, mtu)
			})
			if err != nil {
				return err
			}
			return setup.Populate(cluster, b.Plug)
		},
	}
}

// plugGeneve attaches a device for each other host to the bridge. The devices do
// not forward to each other: in a full mesh, flooded frames would loop.
func plugGeneve(cluster *lab.Cluster, h *lab.Host, mtu int) error {
	return network.EachOther(cluster, h, func(other *lab.Host) error {
		device := "geneve-" + other.Short
		err := h.AddGeneve(lab.Tunnel{Name: device, Remote: other.Addr, VNI: geneveVNI, Port: genevePort, MTU: mtu})
		if err != nil {
			return err
		}
		if err := h.SetMaster(device, network.BridgeName); err != nil {
			return err
		}
		if err := h.Isolate(device); err != nil {
			return err
		}
		return h.SetUp(device)
	})
}
