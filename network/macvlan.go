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
				for n := 1; n <= l.Containers; n++ {
					if err := layMacvlan(h, n); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// layMacvlan adds the host's n-th container. Its address is in the underlay's
// /16, behind the host's number.
func layMacvlan(h *lab.Host, n int) error {
	c, err := h.AddContainer()
	if err != nil {
		return err
	}
	c.Addr = lab.UnderlayAddr(h.Number, n)
	if err := h.AddMacvlan(lab.Device, c.Namespace, lab.Device, lab.MAC(c.Addr)); err != nil {
		return err
	}
	if err := c.SetUp(lab.Device); err != nil {
		return err
	}
	return c.AddAddress(lab.Device, netip.PrefixFrom(c.Addr, 16))
}
