package kinds

import (
	"errors"
	"net/netip"

	"tare/lab"
	"tare/network"
	"tare/wire"
)

const (
	vxlanDevice = "vxlan0"
	vxlanVNI    = 42
)

// vxlan is one layer-2 network over all hosts: a bridge on each host, and VXLAN
// between them, with FDB and neighbour entries set in advance, as by the control
// plane of an overlay.
func vxlan() network.Network {
	return network.Network{
		SetUp: setUpVXLAN,
	}
}

// overlayShare is the part of the overlay that holds a host's addresses.
func overlayShare(h *lab.Host) netip.Prefix {
	return netip.PrefixFrom(overlayAddr(h, 0), 22)
}

// overlayAddr is the n-th address of a host in the overlay, from 1; the first
// is the host's own.
func overlayAddr(h *lab.Host, n int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 220, byte(h.Number<<2 | n>>8), byte(n)})
}

// oneSubnet gives the containers of all hosts addresses of one range.
func oneSubnet(mtu int) network.Bridge {
	return network.Bridge{
		Gateway: func(h *lab.Host) netip.Prefix { return netip.PrefixFrom(overlayAddr(h, 1), 16) },
		Addr:    func(h *lab.Host, n int) netip.Addr { return overlayAddr(h, n+1) },
		MTU:     mtu,
	}
}

func setUpVXLAN(cluster *lab.Cluster, setup *network.Setup) error {
	mtu := wire.InnerMTU(cluster.Spec.MTU, wire.VXLAN())
	b := oneSubnet(mtu)
	err := network.EachHost(cluster, func(h *lab.Host) error {
		if err := b.SetUp(h); err != nil {
			return err
		}
		err := h.AddVXLAN(lab.VXLAN{Name: vxlanDevice, VNI: vxlanVNI, Port: network.VXLANPort, Local: h.Addr, Device: lab.Device, MTU: mtu})
		if err != nil {
			return err
		}
		if err := h.SetMaster(vxlanDevice, network.BridgeName); err != nil {
			return err
		}
		return h.SetUp(vxlanDevice)
	})
	if err != nil {
		return err
	}
	for _, h := range cluster.Hosts {
		addr := b.Gateway(h).Addr()
		if err := network.EachOther(cluster, h, func(other *lab.Host) error { return learn(other, addr, h) }); err != nil {
			return err
		}
	}
	return setup.Populate(cluster, func(c *lab.Container) error {
		if err := b.Plug(c); err != nil {
			return err
		}
		return network.EachOther(cluster, c.Host, func(other *lab.Host) error {
			c.Detach.Push(func() error { return unlearn(other, c.Addr, c.Host) })
			return learn(other, c.Addr, c.Host)
		})
	})
}

// learn sets on a host that an address of the overlay is on another host.
func learn(h *lab.Host, addr netip.Addr, on *lab.Host) error {
	if err := h.AddNeighbour(vxlanDevice, addr, lab.MAC(addr)); err != nil {
		return err
	}
	return h.AddFDB(vxlanDevice, lab.MAC(addr), on.Addr)
}

// unlearn removes what learn set.
func unlearn(h *lab.Host, addr netip.Addr, on *lab.Host) error {
	return errors.Join(h.DropFDB(vxlanDevice, lab.MAC(addr), on.Addr), h.DropNeighbour(vxlanDevice, addr))
}
