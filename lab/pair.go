package lab

import "github.com/vishvananda/netlink"

// Pair is a kind of two devices, of which each receives what the other sends: a
// container's and its host's.
type Pair int

// The kinds.
const (
	Veth Pair = iota
	// NetkitL2 and NetkitL3 are netkit devices (drivers/net/netkit.c, Linux 6.7): a program
	// that is attached to the host's end decides, while the container sends, where a packet
	// goes. Until there is one, nothing that a container sends goes anywhere.
	NetkitL2 // with MAC addresses and ARP
	NetkitL3 // without: the Ethernet header has zeros
)

// String is the kind of either device, as the kernel calls it.
func (p Pair) String() string {
	if p == Veth {
		return "veth"
	}
	return "netkit"
}

// HasARP reports whether a device asks for the MAC address of its next hop.
func (p Pair) HasARP() bool { return p != NetkitL3 }

// Add joins a host to a container's namespace; both ends are left down. NetkitL3 has no use
// for the ends' MAC addresses.
func (p Pair) Add(host, container End, mtu int) error {
	if p == Veth {
		return AddVeth(host, container, mtu)
	}
	mode := netlink.NETKIT_MODE_L2
	if p == NetkitL3 {
		mode, host.MAC, container.MAC = netlink.NETKIT_MODE_L3, nil, nil
	}
	peer := attrs(container.Name, mtu, container.MAC)
	peer.Namespace = netlink.NsFd(container.In.net.Fd())
	// Policies and scrubbing (Linux 6.13, 6.12.2) are those of Cilium.
	pair := &netlink.Netkit{
		LinkAttrs: attrs(host.Name, mtu, host.MAC), Mode: mode,
		Policy: netlink.NETKIT_POLICY_FORWARD, PeerPolicy: netlink.NETKIT_POLICY_BLACKHOLE,
		Scrub: netlink.NETKIT_SCRUB_NONE, PeerScrub: netlink.NETKIT_SCRUB_DEFAULT,
	}
	pair.SetPeerAttrs(&peer)
	return host.In.add(pair)
}
