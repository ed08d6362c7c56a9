package network

import (
	"net/netip"

	"tare/lab"
	"tare/wire"
)

const (
	vxlanDevice = "vxlan0"
	vxlanVNI    = 42
	vxlanPort   = 4789 // RFC 7348
)

// vxlan is one layer-2 network over all hosts: a bridge per host, and between
// them VXLAN whose FDB and neighbour entries are laid beforehand, as an
// overlay's control plane does.
func vxlan() Network {
	return Network{
		Name:     "vxlan",
		Doc:      "bridge + kernel VXLAN between hosts, container MTU = underlay - 50",
		Parent:   "bridge",
		Fidelity: SamePath,
		Stack:    wire.VXLAN(),
		Paths:    []string{SameHost, CrossHost, HostToContainer},
		Missing:  "VXLAN devices",
		Get:      "modprobe vxlan",
		Lay:      layVXLAN,
	}
}

// overlayShare is where the addresses of a host in the overlay are.
func overlayShare(h *lab.Host) netip.Prefix {
	return netip.PrefixFrom(overlayAddr(h, 0), 22)
}

// overlayAddr is the n-th address of a host in the overlay, from 1; the first
// is the host's own.
func overlayAddr(h *lab.Host, n int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 220, byte(h.Number<<2 | n>>8), byte(n)})
}

// oneSubnet hangs the containers of all hosts into one range.
func oneSubnet(h *lab.Host, mtu int) bridged {
	addr := func(n int) netip.Addr { return overlayAddr(h, n+1) }
	return bridged{gateway: netip.PrefixFrom(overlayAddr(h, 1), 16), addr: addr, mtu: mtu}
}

func layVXLAN(u *lab.Underlay, l *Laying) error {
	mtu := wire.InnerMTU(u.Spec.MTU, wire.VXLAN())
	err := eachHost(u, func(h *lab.Host) error {
		if err := oneSubnet(h, mtu).lay(h, l.Containers); err != nil {
			return err
		}
		err := h.AddVXLAN(lab.VXLAN{Name: vxlanDevice, VNI: vxlanVNI, Port: vxlanPort, Local: h.Addr, Device: lab.Device, MTU: mtu})
		if err != nil {
			return err
		}
		if err := h.SetMaster(vxlanDevice, bridgeName); err != nil {
			return err
		}
		return h.SetUp(vxlanDevice)
	})
	if err != nil {
		return err
	}
	return eachHost(u, func(h *lab.Host) error { return learnPeers(u, h, l.Containers) })
}

// learnPeers tells a host where every address of the other hosts lives.
func learnPeers(u *lab.Underlay, h *lab.Host, count int) error {
	for _, other := range u.Hosts {
		if other == h {
			continue
		}
		for n := 1; n <= count+1; n++ {
			addr := overlayAddr(other, n)
			if err := h.AddNeighbour(vxlanDevice, addr, lab.MAC(addr)); err != nil {
				return err
			}
			if err := h.AddFDB(vxlanDevice, lab.MAC(addr), other.Addr); err != nil {
				return err
			}
		}
	}
	return nil
}
