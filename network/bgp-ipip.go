package network

import (
	"errors"
	"net/netip"

	"tare/lab"
	"tare/wire"
)

// ipipDevice is the host's end of every tunnel. Calico takes the device tunl0
// that the kernel's module makes by itself.
const ipipDevice = "ipip0"

// bgpIPIP is bgp whose learned routes lead through IPIP, so that the network
// between the hosts need not know the containers' addresses.
func bgpIPIP() Network {
	return Network{
		Name:     "bgp-ipip",
		Doc:      "bgp with IPIP between hosts, container MTU = underlay - 20 (Calico's ipipMode Always)",
		Parent:   "bgp",
		Fidelity: SamePath,
		Facts:    Facts{Policy: true, Kernel: "ipip"},
		Stack:    wire.IPIP(),
		Paths:    []string{SameHost, CrossHost, HostToContainer},
		Outside:  true,
		Needs:    bgpNeeds(),
		Missing:  "IPIP devices, and tc-BPF to stand in",
		Get:      "modprobe ipip",
		Params:   []Param{policiesParam()}, // FRR gives a learned route no device
		Lay: func(u *lab.Underlay, l *Laying) error {
			if err := layIPIPMesh(u, l); err != nil {
				return err
			}
			return fabric{peers: mesh, tunnel: ipipDevice, mtu: ipipMTU(u)}.lay(u, l)
		},
		Try: func(u *lab.Underlay, l *Laying) error { return errors.Join(layIPIPMesh(u, l), tryPool(u, l)) },
	}
}

func ipipMTU(u *lab.Underlay) int { return wire.InnerMTU(u.Spec.MTU, wire.IPIP()) }

// layIPIPMesh gives each host a device for IPIP, with the first address of its
// own range.
func layIPIPMesh(u *lab.Underlay, l *Laying) error {
	return eachHost(u, func(h *lab.Host) error {
		var peers []netip.Addr
		for _, other := range u.Hosts {
			if other != h {
				peers = append(peers, other.Addr)
			}
		}
		kernel, err := h.AddIPIP(lab.IPIP{Name: ipipDevice, Local: h.Addr, Device: lab.Device, MTU: ipipMTU(u), Peers: peers})
		if err != nil {
			return err
		}
		if !kernel {
			l.standIn("IPIP by tc-BPF: this kernel lacks IPIP devices")
		}
		return h.AddAddress(ipipDevice, netip.PrefixFrom(h.ContainerAddr(0), 32))
	})
}
