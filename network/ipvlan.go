package network

import (
	"net/netip"

	"tare/lab"
)

// ipvlan gives containers addresses of the underlay itself, all behind the
// host's MAC address.
func ipvlan() Network {
	return Network{
		Name:     "ipvlan",
		Doc:      "ipvlan on the underlay, L2 mode",
		Parent:   Baseline,
		Fidelity: SamePath,
		Paths:    []string{SameHost, CrossHost},
		Outside:  true,
		Needs: []Need{kernel("ipvlan devices", "modprobe ipvlan", func(ns *lab.Namespace) error {
			if err := lab.AddVeth(lab.End{In: ns, Name: lab.Device}, lab.End{In: ns, Name: "wire"}, 1500); err != nil {
				return err
			}
			return ns.AddIPVLAN(lab.Device, ns, "try")
		})},
		Missing: "ipvlan devices",
		Get:     "modprobe ipvlan",
		Lay: func(u *lab.Underlay, l *Laying) error {
			return eachHost(u, func(h *lab.Host) error {
				addr := func(n int) netip.Addr { return lab.UnderlayAddr(h.Number, n) }
				return attachEach(h, addr, l.Containers, func(c *lab.Container) error {
					return h.AddIPVLAN(lab.Device, c.Namespace, lab.Device)
				})
			})
		},
	}
}
