package kinds

import (
	"tare/engine"
	"tare/lab"
	"tare/network"
	"tare/wire"
)

// gre is route with GRE between hosts: a device for each other host.
func gre() network.Network {
	return network.Network{
		Needs: []engine.Need{network.KernelNeed("GRE devices", "modprobe ip_gre", func(ns *lab.Namespace) error {
			return ns.AddGRE(lab.Tunnel{Name: "try", Local: lab.UnderlayAddr(0, 1), Remote: lab.UnderlayAddr(0, 2), MTU: 1476})
		})},
		SetUp: func(cluster *lab.Cluster, setup *network.Setup) error {
			mtu := wire.InnerMTU(cluster.Spec.MTU, wire.GRE())
			return setUpTunnels(cluster, setup, mtu, func(h, other *lab.Host) (lab.Route, error) {
				device := "gre-" + other.Short
				err := h.AddGRE(lab.Tunnel{Name: device, Local: h.Addr, Remote: other.Addr, MTU: mtu})
				if err != nil {
					return lab.Route{}, err
				}
				return lab.Route{Device: device}, h.SetUp(device)
			})
		},
	}
}

// setUpTunnels makes a bridge on each host, and a tunnel and a route to every other
// host's range: connect makes the tunnel and returns the route. The host itself
// sends from its address on the bridge, so that replies come back through the
// tunnel.
func setUpTunnels(cluster *lab.Cluster, setup *network.Setup, mtu int, connect func(h, other *lab.Host) (lab.Route, error)) error {
	b := network.OwnSubnet(mtu)
	err := network.EachHost(cluster, func(h *lab.Host) error {
		if err := b.SetUp(h); err != nil {
			return err
		}
		return network.EachOther(cluster, h, func(other *lab.Host) error {
			route, err := connect(h, other)
			if err != nil {
				return err
			}
			route.To, route.From = other.Subnet(), b.Gateway(h).Addr()
			return h.AddRoute(route)
		})
	})
	if err != nil {
		return err
	}
	return setup.Populate(cluster, b.Plug)
}
