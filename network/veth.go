package network

import (
	"net/netip"

	"tare/lab"
)

// veth is the least that a container can cost: a namespace on one veth pair,
// routed by its host.
func veth() Network {
	return Network{
		Name:     "veth",
		Doc:      "a namespace on one veth pair, routed: the least any container costs",
		Parent:   Baseline,
		Across:   "ptp",
		Fidelity: SamePath,
		Paths:    []string{SameHost, ContainerToOwnHost},
		Missing:  "veth devices",
		Get:      "modprobe veth",
		Lay: func(u *lab.Underlay, l *Laying) error {
			return eachHost(u, func(h *lab.Host) error {
				for n := 1; n <= l.Containers; n++ {
					if err := routedPair(h, h.ContainerAddr(n), u.Spec.MTU); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// routedPair makes a container whose next hop is its host's own address, on
// the other end of a veth pair.
func routedPair(h *lab.Host, addr netip.Addr, mtu int) error {
	c, port, err := pair(h, addr, mtu)
	if err != nil {
		return err
	}
	if err := h.SetUp(port); err != nil {
		return err
	}
	if err := h.AddRoute(lab.Route{To: netip.PrefixFrom(addr, 32), Device: port}); err != nil {
		return err
	}
	if err := c.AddAddress(lab.Device, netip.PrefixFrom(addr, 32)); err != nil {
		return err
	}
	return c.AddRoute(lab.Route{To: lab.Default(), Via: h.Addr, Device: lab.Device, OnLink: true})
}
