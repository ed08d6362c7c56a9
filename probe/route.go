package probe

import (
	"fmt"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"

	"tare/result"
)

// parseAddresses reads the answer to RTM_GETADDR for IPv4: the addresses of
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

// parseRoutes reads the answer to RTM_GETROUTE for IPv4: the routes of the main
// table.
func parseRoutes(dumped []byte, names map[uint32]string) ([]result.Route, error) {
	routes := []result.Route{}
	for m := range messages(dumped) {
		if m.kind != unix.RTM_NEWROUTE {
			continue
		}
		if len(m.body) < unix.SizeofRtMsg {
			return nil, fmt.Errorf("parse routes: a message of %d bytes", len(m.body))
		}
		// struct rtmsg: family, lengths, TOS, table, protocol, scope, type, flags.
		if m.body[4] == unix.RT_TABLE_MAIN && number32(m.body[8:])&unix.RTM_F_CLONED == 0 {
			routes = append(routes, parseRoute(m.body, names))
		}
	}
	return routes, nil
}

func parseRoute(body []byte, names map[uint32]string) result.Route {
	r := result.Route{Protocol: routeProtocol(body[5]), Blackhole: body[7] == unix.RTN_BLACKHOLE}
	to := netip.IPv4Unspecified()
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
		case unix.RTA_METRICS:
			for metric, chosen := range attributes(value, 0) {
				if metric == unix.RTAX_CC_ALGO {
					r.CC = word(chosen)
				}
			}
		}
	}
	r.To = netip.PrefixFrom(to, int(body[1]))
	return r
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
