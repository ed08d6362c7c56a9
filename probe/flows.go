package probe

import (
	"cmp"
	"encoding/binary"
	"maps"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// untranslated reads where connections go that are tracked and whose addresses no rule changed.
func untranslated() Probe {
	return Probe{
		Name: "untranslated", Doc: "tracked UDP flows that no rule translates, by where they go", Scope: Namespace, Source: "conntrack -L -p udp",
		look: func(v *view) (map[string]any, error) {
			dumped, err := v.dump(unix.NETLINK_NETFILTER, ctGet, make([]byte, nfgenSize))
			if err != nil {
				return nil, err
			}
			return parseFlows(dumped), nil
		},
	}
}

// Of nfnetlink_conntrack (include/uapi/linux/netfilter/nfnetlink_conntrack.h).
const (
	ctGet = unix.NFNL_SUBSYS_CTNETLINK<<8 | 1 // IPCTNL_MSG_CT_GET
	ctNew = unix.NFNL_SUBSYS_CTNETLINK << 8   // IPCTNL_MSG_CT_NEW

	ctaTupleOrig = 1
	ctaStatus    = 3
	ctaTupleIP   = 1
	ctaTupleL4   = 2
	ctaV4Dst     = 2
	ctaV6Dst     = 4
	ctaL4Number  = 1
	ctaL4Dst     = 3

	translated = 1<<4 | 1<<5 // IPS_SRC_NAT, IPS_DST_NAT
)

// mostFlows is how many destinations are listed, those with the most flows: a router has any
// number of them.
const mostFlows = 16

// parseFlows reads the answer to IPCTNL_MSG_CT_GET: "10.0.0.2:5210" is how many tracked flows of
// UDP go there untranslated.
func parseFlows(dumped []byte) map[string]any {
	flows := map[netip.AddrPort]int{}
	for m := range messages(dumped) {
		if m.kind != ctNew {
			continue
		}
		var to netip.AddrPort
		protocol, status := byte(0), uint32(0)
		for kind, value := range attributes(m.body, nfgenSize) {
			switch kind {
			case ctaTupleOrig:
				to, protocol = parseTuple(value)
			case ctaStatus:
				status = big32(value)
			}
		}
		if protocol == unix.IPPROTO_UDP && status&translated == 0 && !to.Addr().IsMulticast() {
			flows[to]++
		}
	}
	most := slices.SortedFunc(maps.Keys(flows), func(a, b netip.AddrPort) int {
		return cmp.Or(cmp.Compare(flows[b], flows[a]), a.Compare(b))
	})
	values := map[string]any{}
	for _, to := range most[:min(mostFlows, len(most))] {
		values[to.String()] = flows[to]
	}
	return values
}

// parseTuple gives where the packets of a direction go, and the number of their protocol.
func parseTuple(tuple []byte) (to netip.AddrPort, protocol byte) {
	var addr netip.Addr
	var port uint16
	for kind, value := range attributes(tuple, 0) {
		for inner, data := range attributes(value, 0) {
			switch {
			case kind == ctaTupleIP && (inner == ctaV4Dst || inner == ctaV6Dst):
				addr, _ = netip.AddrFromSlice(data)
			case kind == ctaTupleL4 && inner == ctaL4Number && len(data) > 0:
				protocol = data[0]
			case kind == ctaTupleL4 && inner == ctaL4Dst && len(data) >= 2:
				port = binary.BigEndian.Uint16(data)
			}
		}
	}
	return netip.AddrPortFrom(addr, port), protocol
}
