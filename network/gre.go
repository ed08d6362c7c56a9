package network

import (
	"tare/engine"
	"tare/lab"
	"tare/wire"
)

// gre is route with GRE between hosts: a device for each other host.
func gre() Network {
	return Network{
		Needs: []engine.Need{kernel("GRE devices", "modprobe ip_gre", func(ns *lab.Namespace) error {
			return ns.AddGRE(lab.Tunnel{Name: "try", Local: lab.UnderlayAddr(0, 1), Remote: lab.UnderlayAddr(0, 2), MTU: 1476})
		})},
		SetUp: func(cluster *lab.Cluster, setup *Setup) error {
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
func setUpTunnels(cluster *lab.Cluster, setup *Setup, mtu int, connect func(h, other *lab.Host) (lab.Route, error)) error {
	b := ownSubnet(mtu)
	err := eachHost(cluster, func(h *lab.Host) error {
		if err := b.setUp(h); err != nil {
			return err
		}
		return eachOther(cluster, h, func(other *lab.Host) error {
			route, err := connect(h, other)
			if err != nil {
				return err
			}
			route.To, route.From = other.Subnet(), b.gateway(h).Addr()
			return h.AddRoute(route)
		})
	})
	if err != nil {
		return err
	}
	return setup.populate(cluster, b.plug)
}
