package lab

import (
	"net/netip"

	"github.com/vishvananda/netlink"
)

// Tunnel is a device that carries packets to one other host.
type Tunnel struct {
	Name          string
	Local, Remote netip.Addr
	VNI           int // of a Geneve network
	Port          int // UDP, of Geneve
	MTU           int // of the inner packets
}

// AddGRE adds a device that carries IPv4 in GRE (RFC 2784), left down. Where the kernel
// would load its module for that, the error is a *ModuleError.
func (ns *Namespace) AddGRE(t Tunnel) error {
	if err := checkModule("/", "ip_gre", "gre0, gretap0 and erspan0"); err != nil {
		return err
	}
	return ns.add(&netlink.Gretun{
		LinkAttrs: attrs(t.Name, t.MTU, nil), Local: t.Local.AsSlice(), Remote: t.Remote.AsSlice(), Ttl: tunnelTTL, PMtuDisc: 1,
	})
}

// AddGeneve adds a device that carries Ethernet in Geneve (RFC 8926), left
// down. The kernel chooses the outer source.
func (ns *Namespace) AddGeneve(t Tunnel) error {
	return ns.add(&netlink.Geneve{
		LinkAttrs: attrs(t.Name, t.MTU, nil), ID: uint32(t.VNI), Remote: t.Remote.AsSlice(), Dport: uint16(t.Port),
	})
}

// AddWireGuard adds a WireGuard device without keys and peers, left down.
func (ns *Namespace) AddWireGuard(name string, mtu int) error {
	return ns.add(&netlink.Wireguard{LinkAttrs: attrs(name, mtu, nil)})
}
