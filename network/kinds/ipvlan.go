package kinds

import (
	"tare/engine"
	"tare/lab"
	"tare/network"
)

// ipvlan gives containers addresses on the underlay, all with the host's MAC
// address.
func ipvlan() network.Network {
	return network.Network{
		Needs: []engine.Need{network.KernelNeed("ipvlan devices", "modprobe ipvlan", func(ns *lab.Namespace) error {
			if err := lab.AddVeth(lab.End{In: ns, Name: lab.Device}, lab.End{In: ns, Name: "wire"}, 1500); err != nil {
				return err
			}
			return ns.AddIPVLAN(lab.Device, ns, "try")
		})},
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			return setup.Populate(cluster, func(c *lab.Container) error {
				return addSlave(c, lab.UnderlayAddr(c.Host.Number, c.Number), func() error {
					return c.Host.AddIPVLAN(lab.Device, c.Namespace, lab.Device)
				})
			})
		},
	}
}
