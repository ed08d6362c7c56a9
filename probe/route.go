package probe

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"tare/result"
)

// parseAddresses reads the answer to RTM_GETADDR: the addresses of
// each device, by its index.
func parseAddresses(dumped []byte) (map[uint32][]netip.Prefix, error) {
	found := map[uint32][]netip.Prefix{}
	for m := range messages(dumped) {
		if m.kind != unix.RTM_NEWADDR {
			continue
		}
		if len(m.body) < unix.SizeofIfAddrmsg {
			return nil, fmt.Errorf("parse addresses: a message of %d bytes", len(m.body))
		}
		var local, peer netip.Addr
		for kind, value := range attributes(m.body, unix.SizeofIfAddrmsg) {
			switch kind {
			case unix.IFA_LOCAL:
				local, _ = netip.AddrFromSlice(value)
			case unix.IFA_ADDRESS:
				peer, _ = netip.AddrFromSlice(value)
			}
		}
		bits := int(m.body[1])
		if local.IsValid() && local != peer {
			bits = local.BitLen() // the prefix is that of the peer
		} else {
			local = peer
		}
		if local.IsValid() {
			index := number32(m.body[4:])
			found[index] = append(found[index], netip.PrefixFrom(local, bits))
		}
	}
	return found, nil
}

// parseRoutes reads the answer to RTM_GETROUTE: the routes of all tables, and what
// is remembered of single destinations.
func parseRoutes(dumped []byte, names map[uint32]string) ([]result.Route, error) {
	routes := []result.Route{}
	for m := range messages(dumped) {
		if m.kind != unix.RTM_NEWROUTE {
			continue
		}
		if len(m.body) < unix.SizeofRtMsg {
			return nil, fmt.Errorf("parse routes: a message of %d bytes", len(m.body))
		}
		r := parseRoute(m.body, names)
		if kind, sends := routeKind(m.body[7]); sends && !r.To.Addr().IsMulticast() {
			r.Kind = kind
			routes = append(routes, r)
		}
	}
	return routes, nil
}

// ofMain are the routes of the main table.
func ofMain(routes []result.Route) []result.Route {
	return slices.DeleteFunc(slices.Clone(routes), func(r result.Route) bool { return r.Table != 0 || r.Learned })
}

// routeKind names a type of routes as iproute2 does, and reports whether packets
// for one receiver meet it.
func routeKind(number byte) (kind string, known bool) {
	kinds := map[byte]string{
		unix.RTN_UNICAST: "", unix.RTN_LOCAL: "local", unix.RTN_BLACKHOLE: "blackhole", unix.RTN_UNREACHABLE: "unreachable",
		unix.RTN_PROHIBIT: "prohibit", unix.RTN_THROW: "throw",
	}
	kind, known = kinds[number]
	return kind, known
}

// parseRoute reads a route: struct rtmsg has family, lengths, TOS, table, protocol,
// scope, type and flags.
func parseRoute(body []byte, names map[uint32]string) result.Route {
	r := result.Route{Protocol: routeProtocol(body[5]), Table: tableOf(uint32(body[4])), Learned: number32(body[8:])&unix.RTM_F_CLONED != 0}
	to := unspecified(body[0])
	for kind, value := range attributes(body, unix.SizeofRtMsg) {
		switch kind {
		case unix.RTA_DST:
			if address, whole := netip.AddrFromSlice(value); whole {
				to = address
			}
		case unix.RTA_GATEWAY:
			r.Via, _ = netip.AddrFromSlice(value)
		case unix.RTA_OIF:
			r.Device = names[number32(value)]
		case unix.RTA_TABLE:
			r.Table = tableOf(number32(value))
		case unix.RTA_PREFSRC:
			r.Source, _ = netip.AddrFromSlice(value)
		case nextHopObject:
			r.Object = number32(value)
		case unix.RTA_PRIORITY:
			r.Metric = number32(value)
		case unix.RTA_MULTIPATH:
			r.Hops = parseHops(value, names)
		case unix.RTA_METRICS:
			addMetrics(&r, value)
		}
	}
	if len(r.Hops) > 0 {
		r.Via, r.Device = r.Hops[0].Via, r.Hops[0].Device
	}
	if to.Is6() && r.Metric == 1024 {
		r.Metric = 0 // the kernel's default
	}
	r.To = netip.PrefixFrom(to, int(body[1]))
	return r
}

// nextHopObject is the attribute of a route that names a next hop by its number (RTA_NH_ID of
// include/uapi/linux/rtnetlink.h).
const nextHopObject = 30

func unspecified(family byte) netip.Addr {
	if family == unix.AF_INET6 {
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}

// tableOf is a table as a route names it: 0 is the main one.
func tableOf(number uint32) uint32 {
	if number == unix.RT_TABLE_MAIN {
		return 0
	}
	return number
}

func addMetrics(r *result.Route, metrics []byte) {
	for metric, chosen := range attributes(metrics, 0) {
		switch metric {
		case unix.RTAX_CC_ALGO:
			r.CC = word(chosen)
		case unix.RTAX_ADVMSS:
			r.AdvMSS = number32(chosen)
		case unix.RTAX_MTU:
			r.MTU = number32(chosen)
		case unix.RTAX_LOCK:
			r.Locked = number32(chosen)&(1<<unix.RTAX_MTU) != 0
		}
	}
}

// parseHops reads several next hops, each a struct rtnexthop: length, flags, weight
// and device, followed by attributes.
func parseHops(data []byte, names map[uint32]string) (hops []result.NextHop) {
	for len(data) >= unix.SizeofRtNexthop {
		size := int(binary.NativeEndian.Uint16(data))
		if size < unix.SizeofRtNexthop || size > len(data) {
			return hops
		}
		hop := result.NextHop{Device: names[number32(data[4:])]}
		for kind, value := range attributes(data[:size], unix.SizeofRtNexthop) {
			if kind == unix.RTA_GATEWAY {
				hop.Via, _ = netip.AddrFromSlice(value)
			}
		}
		hops = append(hops, hop)
		data = data[min(aligned(size), len(data)):]
	}
	return hops
}

// routeProtocol names the routing daemon that a route is from, as iproute2's
// rt_protos does; empty: it is the kernel's or a user's.
func routeProtocol(number byte) string {
	names := map[byte]string{
		unix.RTPROT_UNSPEC: "", unix.RTPROT_REDIRECT: "", unix.RTPROT_KERNEL: "", unix.RTPROT_BOOT: "", unix.RTPROT_STATIC: "",
		unix.RTPROT_GATED: "gated", unix.RTPROT_RA: "ra", unix.RTPROT_MRT: "mrt", unix.RTPROT_ZEBRA: "zebra", unix.RTPROT_BIRD: "bird",
		unix.RTPROT_DNROUTED: "dnrouted", unix.RTPROT_XORP: "xorp", unix.RTPROT_NTK: "ntk", unix.RTPROT_DHCP: "dhcp", unix.RTPROT_MROUTED: "mrouted",
		unix.RTPROT_BABEL: "babel", unix.RTPROT_BGP: "bgp", unix.RTPROT_ISIS: "isis", unix.RTPROT_OSPF: "ospf", unix.RTPROT_RIP: "rip",
		unix.RTPROT_EIGRP: "eigrp",
	}
	if name, known := names[number]; known {
		return name
	}
	return strconv.Itoa(int(number))
}
