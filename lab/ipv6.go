package lab

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// prefixIPv6 begins every IPv6 address of a lab, fd74:6172:6500::/96: a prefix of unique
// local addresses (RFC 4193). The owner's IPv4 address is in the last four bytes, as
// RFC 6052 embeds one.
const prefixIPv6 = "\xfdtare\x00\x00\x00\x00\x00\x00\x00"

// IPv6Of is the IPv6 address that the owner of an IPv4 address has besides, where its
// cluster has IPv6. The loopback's is ::1, and that of no address in particular is ::.
func IPv6Of(addr netip.Addr) netip.Addr {
	switch {
	case addr.IsLoopback():
		return netip.IPv6Loopback()
	case addr.IsUnspecified():
		return netip.IPv6Unspecified()
	}
	var all [16]byte
	copy(all[:], prefixIPv6)
	copy(all[12:], addr.AsSlice())
	return netip.AddrFrom16(all)
}

// IPv4Of is the IPv4 address of which an address of a lab's IPv6 is the counterpart; not valid: of none.
func IPv4Of(addr netip.Addr) netip.Addr {
	all := addr.As16()
	if !addr.Is6() || string(all[:12]) != prefixIPv6 {
		return netip.Addr{}
	}
	return netip.AddrFrom4([4]byte(all[12:]))
}

// IPv6PrefixOf is what a prefix of IPv4 addresses is in IPv6; the default route's is the
// default route's.
func IPv6PrefixOf(prefix netip.Prefix) netip.Prefix {
	if prefix.Bits() == 0 {
		return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	return netip.PrefixFrom(IPv6Of(prefix.Addr()), 96+prefix.Bits())
}

// inIPv6 is the same route in IPv6.
func (r Route) inIPv6() Route {
	r.To = IPv6PrefixOf(r.To)
	if r.Via.IsValid() {
		r.Via = IPv6Of(r.Via)
	}
	if r.From.IsValid() {
		r.From = IPv6Of(r.From)
	}
	return r
}

// enableIPv6 gives the namespace IPv6: its devices get their addresses from the lab (no
// autoconfiguration), and a link-local one by the kernel, with which a router asks for
// its neighbours. No address waits for duplicate address detection (RFC 4862). From now
// on each IPv4 address, route and neighbour that it is given has its counterpart, and so
// it carries both.
func (ns *Namespace) enableIPv6() error {
	if _, err := ns.ReadSysctl("net/ipv6/conf/all/disable_ipv6"); err != nil {
		return fmt.Errorf("give %s IPv6: %w: boot the kernel without ipv6.disable=1, or use --ip 4", ns.Name, err)
	}
	err := ns.Do(func() error { return writeSysctls(sysctlsIPv6()) })
	ns.ipv6 = err == nil
	return err
}

// sysctlsIPv6 are those of a namespace with IPv6.
func sysctlsIPv6() []sysctl {
	return []sysctl{
		{"net/ipv6/conf/all/disable_ipv6", "0"},
		{"net/ipv6/conf/default/disable_ipv6", "0"},
		{"net/ipv6/conf/default/accept_ra", "0"},
		{"net/ipv6/conf/default/autoconf", "0"},
		{"net/ipv6/conf/default/accept_dad", "0"},
	}
}

// Answer lets the namespace give its MAC address to who asks on a device for an address
// that is on another of its devices, or is only a next hop. ARP does so without this.
func (ns *Namespace) Answer(device string, addr netip.Addr) error {
	if !ns.ipv6 {
		return nil
	}
	return ns.addAddress(device, netip.PrefixFrom(IPv6Of(addr), 128))
}

// ForgetIPv6 lets the kernel no longer answer at the IPv6 address beside an IPv4 address, after
// somebody else has removed both from their device: the route to it is the lab's
// (chooseLocalCC), and stays.
func (ns *Namespace) ForgetIPv6(addr netip.Addr) error {
	if !ns.ipv6 {
		return nil
	}
	own := netlink.Route{Dst: ipNet(netip.PrefixFrom(IPv6Of(addr), 128)), Table: unix.RT_TABLE_LOCAL, Type: unix.RTN_LOCAL}
	if err := ns.links.RouteDel(&own); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("drop route to %s in %s: %w", own.Dst, ns.Name, err)
	}
	return nil
}

// Both are an IPv4 address of a host, and the IPv6 address beside it where the host has IPv6.
func (h *Host) Both(addr netip.Addr) []netip.Addr {
	if h.ipv6 {
		return []netip.Addr{addr, IPv6Of(addr)}
	}
	return []netip.Addr{addr}
}

// CheckIPv6 fails if a container of a host with IPv6 lacks the IPv6 address that belongs to its
// Addr. A real part that attaches it chooses both.
func (c *Container) CheckIPv6() error {
	if !c.Host.ipv6 {
		return nil
	}
	want := IPv6Of(c.Addr)
	list, err := retry(func() ([]netlink.Addr, error) { return c.links.AddrList(nil, unix.AF_INET6) })
	if err != nil {
		return fmt.Errorf("list IPv6 addresses: %w", err)
	}
	var others []string
	for _, a := range list {
		switch addr, _ := netip.AddrFromSlice(a.IP); {
		case addr == want:
			return nil
		case addr.IsGlobalUnicast():
			others = append(others, addr.String())
		}
	}
	if len(others) == 0 {
		return fmt.Errorf("it has no IPv6 address beside %s, want %s: use --ip 4", c.Addr, want)
	}
	return fmt.Errorf("beside %s it has the IPv6 address %s, want %s: set the network up again", c.Addr, strings.Join(others, ", "), want)
}

// At is the host's address: of IPv6 where it has that.
func (h *Host) At() netip.Addr {
	if h.ipv6 {
		return IPv6Of(h.Addr)
	}
	return h.Addr
}

// forward lets the host forward packets of each family that it has.
func (h *Host) forward() error {
	if err := h.Sysctl("net/ipv4/ip_forward", "1"); err != nil || !h.ipv6 {
		return err
	}
	return h.Sysctl("net/ipv6/conf/all/forwarding", "1")
}

// families are the address families that the namespace has.
func (ns *Namespace) families() []int {
	if ns.ipv6 {
		return []int{unix.AF_INET, unix.AF_INET6}
	}
	return []int{unix.AF_INET}
}

// findIPv6 looks for an IPv6 header between addresses of the lab, without extension
// headers, and then the ports, as find does for IPv4.
func (f Flow) findIPv6(packet []byte) (reply, found, over bool) {
	const next, from, to, header, ports = 6, 8, 24, 40, 4
	if len(packet) < header+ports || packet[0]>>4 != 6 ||
		string(packet[from:from+len(prefixIPv6)]) != prefixIPv6 || string(packet[to:to+len(prefixIPv6)]) != prefixIPv6 {
		return false, false, false
	}
	switch packet[next] {
	case unix.IPPROTO_ICMPV6:
		return false, false, true
	case unix.IPPROTO_TCP, unix.IPPROTO_UDP:
		return f.between(packet[header:])
	}
	return false, false, false
}
