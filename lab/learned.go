package lab

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Learned are the destinations of the routes through other hosts that a routing
// daemon added. The kernel identifies the daemon by its protocol number
// (iproute2's rt_protos).
func (ns *Namespace) Learned(protocol int) ([]netip.Prefix, error) {
	var learned []netip.Prefix
	for _, family := range ns.families() {
		routes, err := retry(func() ([]netlink.Route, error) {
			return ns.links.RouteListFiltered(family,
				&netlink.Route{Protocol: netlink.RouteProtocol(protocol), Type: unix.RTN_UNICAST},
				netlink.RT_FILTER_PROTOCOL|netlink.RT_FILTER_TYPE)
		})
		if err != nil {
			return nil, fmt.Errorf("list routes of protocol %d in %s: %w", protocol, ns.Name, err)
		}
		for _, route := range routes {
			if prefix, err := netip.ParsePrefix(route.Dst.String()); err == nil && route.Gw != nil {
				learned = append(learned, prefix)
			}
		}
	}
	return learned, nil
}

// AddBlackhole drops what goes to a range and to nothing more specific in it.
func (ns *Namespace) AddBlackhole(to netip.Prefix) error {
	ranges := []netip.Prefix{to}
	if ns.ipv6 {
		ranges = append(ranges, IPv6PrefixOf(to))
	}
	for _, to := range ranges {
		if err := ns.links.RouteAdd(&netlink.Route{Dst: ipNet(to), Type: unix.RTN_BLACKHOLE}); err != nil {
			return fmt.Errorf("add blackhole %s in %s: %w", to, ns.Name, err)
		}
	}
	return nil
}
