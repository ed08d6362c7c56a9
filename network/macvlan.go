package network

import (
	"net/netip"

	"tare/lab"
)

// macvlan gives containers addresses of the underlay itself.
func macvlan() Network {
	return Network{
		Name:     "macvlan",
		Doc:      "macvlan on the underlay, bridge mode",
		Parent:   Baseline,
		Fidelity: SamePath,
		Paths:    []string{SameHost, CrossHost},
		Outside:  true,
		Missing:  "macvlan devices",
		Get:      "modprobe macvlan",
		Lay: func(u *lab.Underlay, l *Laying) error {
			return eachHost(u, func(h *lab.Host) error {
				// Addresses of the underlay's /16, behind the host's number.
				addr := func(n int) netip.Addr { return lab.UnderlayAddr(h.Number, n) }
				return layMacvlans(h, lab.Device, addr, l.Containers)
			})
		},
	}
}

// layMacvlans adds containers on a device of the host.
func layMacvlans(h *lab.Host, device string, addr func(n int) netip.Addr, count int) error {
	return attachEach(h, addr, count, func(c *lab.Container) error {
		return h.AddMacvlan(device, c.Namespace, lab.Device, lab.MAC(c.Addr))
	})
}

// attachEach adds containers, each with a device that attach makes and an
// address of a /16 of all hosts.
func attachEach(h *lab.Host, addr func(n int) netip.Addr, count int, attach func(c *lab.Container) error) error {
	for n := 1; n <= count; n++ {
		c, err := h.AddContainer()
		if err != nil {
			return err
		}
		c.Addr = addr(n)
		if err := attach(c); err != nil {
			return err
		}
		if err := c.SetUp(lab.Device); err != nil {
			return err
		}
		if err := c.AddAddress(lab.Device, netip.PrefixFrom(c.Addr, 16)); err != nil {
			return err
		}
	}
	return nil
}
