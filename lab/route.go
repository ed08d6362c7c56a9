package lab

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// AddAddress gives a device an IPv4 address and adds the route to its subnet itself:
// the one that the kernel adds would carry no congestion control.
func (ns *Namespace) AddAddress(device string, prefix netip.Prefix) error {
	if err := ns.addAddress(device, prefix); err != nil {
		return err
	}
	if ns.ipv6 {
		if err := ns.addAddress(device, IPv6PrefixOf(prefix)); err != nil {
			return err
		}
	}
	if err := ns.chooseLocalCC(); err != nil {
		return err
	}
	if prefix.IsSingleIP() {
		return nil
	}
	return ns.AddRoute(Route{To: prefix.Masked(), Device: device, From: prefix.Addr()})
}

func (ns *Namespace) addAddress(device string, prefix netip.Prefix) error {
	return ns.change(device, "add address "+prefix.String()+" to "+device+" in "+ns.Name, func(link netlink.Link) error {
		flags := unix.IFA_F_NOPREFIXROUTE
		if prefix.Addr().Is6() {
			flags |= unix.IFA_F_NODAD
		}
		return ns.links.AddrAdd(link, &netlink.Addr{IPNet: ipNet(prefix), Flags: flags})
	})
}

// DropAddress removes an IPv4 address from a device, and the route to its subnet.
func (ns *Namespace) DropAddress(device string, prefix netip.Prefix) error {
	drop := func(prefix netip.Prefix) error {
		return ns.change(device, "drop address "+prefix.String()+" from "+device+" in "+ns.Name, func(link netlink.Link) error {
			return ns.links.AddrDel(link, &netlink.Addr{IPNet: ipNet(prefix)})
		})
	}
	if err := drop(prefix); err != nil || !ns.ipv6 {
		return err // the kernel removes IPv4's routes from an address with it
	}
	to := IPv6PrefixOf(prefix)
	local := netlink.Route{Dst: ipNet(netip.PrefixFrom(to.Addr(), 128)), Table: unix.RT_TABLE_LOCAL, Type: unix.RTN_LOCAL}
	for _, route := range []netlink.Route{local, {Dst: ipNet(to.Masked())}} {
		if err := ns.links.RouteDel(&route); err != nil {
			return fmt.Errorf("drop route to %s in %s: %w", route.Dst, ns.Name, err)
		}
	}
	return drop(to)
}

// Route is a route to an IPv4 subnet: through a gateway, or on the device itself.
type Route struct {
	To     netip.Prefix
	Via    netip.Addr // invalid: on the link
	Device string     // empty: wherever the gateway is
	From   netip.Addr // source address to prefer; invalid: the kernel's choice
	OnLink bool       // the gateway is on the device although no subnet says so
	Own    bool       // the subnet is the namespace's: every address of it is as if its device had it
}

// Default is the default route's destination.
func Default() netip.Prefix { return netip.PrefixFrom(netip.IPv4Unspecified(), 0) }

// AddRoute adds a route with the lab's congestion control.
func (ns *Namespace) AddRoute(r Route) error {
	if err := ns.addRoute(r); err != nil || !ns.ipv6 {
		return err
	}
	return ns.addRoute(r.inIPv6())
}

func (ns *Namespace) addRoute(r Route) error {
	route := &netlink.Route{Dst: ipNet(r.To), Congctl: ns.CC, Scope: netlink.SCOPE_LINK}
	if r.Via.IsValid() {
		route.Gw, route.Scope = r.Via.AsSlice(), netlink.SCOPE_UNIVERSE
	}
	if r.From.IsValid() {
		route.Src = r.From.AsSlice()
	}
	if r.OnLink {
		route.Flags = int(netlink.FLAG_ONLINK)
	}
	if r.Own {
		route.Type, route.Table, route.Scope = unix.RTN_LOCAL, unix.RT_TABLE_LOCAL, netlink.SCOPE_HOST
	}
	if r.Device != "" {
		index, err := ns.index(r.Device)
		if err != nil {
			return err
		}
		route.LinkIndex = index
	}
	if err := ns.links.RouteAdd(route); err != nil {
		return fmt.Errorf("add route to %s in %s: %w", r.To, ns.Name, err)
	}
	return nil
}

// localRoutes are the routes to the namespace's own addresses.
func (ns *Namespace) localRoutes() ([]netlink.Route, error) {
	var all []netlink.Route
	for _, family := range ns.families() {
		routes, err := retry(func() ([]netlink.Route, error) {
			return ns.links.RouteListFiltered(family,
				&netlink.Route{Table: unix.RT_TABLE_LOCAL, Type: unix.RTN_LOCAL},
				netlink.RT_FILTER_TABLE|netlink.RT_FILTER_TYPE)
		})
		if err != nil {
			return nil, fmt.Errorf("list local routes in %s: %w", ns.Name, err)
		}
		all = append(all, routes...)
	}
	return all, nil
}

// chooseLocalCC sets the lab's congestion control on the routes to the
// namespace's own addresses, which the kernel adds with each address.
func (ns *Namespace) chooseLocalCC() error {
	if ns.CC == "" {
		return nil
	}
	routes, err := ns.localRoutes()
	if err != nil {
		return err
	}
	for _, route := range routes {
		if route.Congctl == ns.CC || route.Dst != nil && route.Dst.IP.IsLinkLocalUnicast() { // to which no workload sends
			continue
		}
		route.Congctl = ns.CC
		if err := ns.replace(route); err != nil && !withItsDevice(err) {
			return fmt.Errorf("set congestion control %s on local route %s in %s: %w: choose one of /proc/sys/net/ipv4/tcp_available_congestion_control with --cc, or load the module tcp_%s",
				ns.CC, route.Dst, ns.Name, err, ns.CC)
		}
	}
	return nil
}

// withItsDevice reports whether a route can't be changed since its device was removed meanwhile, as
// with a container.
func withItsDevice(err error) bool { return errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ESRCH) }

// replace replaces a local route. Of IPv6 the kernel's has no metric, which it lets nobody
// else give to one; routes to an address that several devices have need different ones.
func (ns *Namespace) replace(route netlink.Route) error {
	if route.Family != unix.AF_INET6 {
		return ns.links.RouteReplace(&route)
	}
	if err := ns.links.RouteDel(&route); err != nil {
		return err
	}
	route.Priority = route.LinkIndex
	return ns.links.RouteAdd(&route)
}

func ipNet(prefix netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())}
}
