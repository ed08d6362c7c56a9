package probe

import (
	"cmp"
	"encoding/binary"
	"maps"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// untranslated reads where connections go that are tracked, as they began: no rule changed their addresses, or one
// gave them another destination.
func untranslated() Probe {
	return Probe{
		Name: "untranslated", Doc: "tracked UDP flows, by where they go: those that no rule translates, and where the others are led", Scope: Namespace, Source: "conntrack -L -p udp",
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

	ctaTupleOrig  = 1
	ctaTupleReply = 2
	ctaStatus     = 3
	ctaTupleIP    = 1
	ctaTupleL4    = 2
	ctaV4Src      = 1
	ctaV4Dst      = 2
	ctaV6Src      = 3
	ctaV6Dst      = 4
	ctaL4Number   = 1
	ctaL4Src      = 2
	ctaL4Dst      = 3

	ledElsewhere = 1 << 5              // IPS_DST_NAT
	translated   = 1<<4 | ledElsewhere // IPS_SRC_NAT
)

// mostFlows is how many destinations are listed, those with the most flows: a router has any
// number of them.
const mostFlows = 16

// flowsTo is one kind of flows: where they go, and where a rule led them, if one did.
type flowsTo struct{ to, led netip.AddrPort }

func (f flowsTo) String() string {
	if f.led.IsValid() {
		return f.to.String() + " led to " + f.led.String()
	}
	return f.to.String()
}

// parseFlows reads the answer to IPCTNL_MSG_CT_GET: "10.0.0.2:5210" is how many tracked flows of
// UDP go there untranslated, "10.0.0.2:5210 led to 10.102.0.2:5210" how many a rule led elsewhere.
func parseFlows(dumped []byte) map[string]any {
	flows := map[flowsTo]int{}
	for m := range messages(dumped) {
		if m.kind != ctNew {
			continue
		}
		var to, led netip.AddrPort
		protocol, status := byte(0), uint32(0)
		for kind, value := range attributes(m.body, nfgenSize) {
			switch kind {
			case ctaTupleOrig:
				_, to, protocol = parseTuple(value)
			case ctaTupleReply:
				led, _, _ = parseTuple(value)
			case ctaStatus:
				status = big32(value)
			}
		}
		switch {
		case protocol != unix.IPPROTO_UDP || to.Addr().IsMulticast():
		case status&ledElsewhere != 0:
			flows[flowsTo{to, led}]++
		case status&translated == 0:
			flows[flowsTo{to: to}]++
		}
	}
	most := slices.SortedFunc(maps.Keys(flows), func(a, b flowsTo) int {
		return cmp.Or(cmp.Compare(flows[b], flows[a]), a.to.Compare(b.to), a.led.Compare(b.led))
	})
	values := map[string]any{}
	for _, kind := range most[:min(mostFlows, len(most))] {
		values[kind.String()] = flows[kind]
	}
	return values
}

// parseTuple gives whence and where to the packets of a direction go, and the number of their protocol.
func parseTuple(tuple []byte) (from, to netip.AddrPort, protocol byte) {
	var addrs [2]netip.Addr
	var ports [2]uint16
	for kind, value := range attributes(tuple, 0) {
		for inner, data := range attributes(value, 0) {
			switch {
			case kind == ctaTupleIP && (inner == ctaV4Src || inner == ctaV6Src):
				addrs[0], _ = netip.AddrFromSlice(data)
			case kind == ctaTupleIP && (inner == ctaV4Dst || inner == ctaV6Dst):
				addrs[1], _ = netip.AddrFromSlice(data)
			case kind == ctaTupleL4 && inner == ctaL4Number && len(data) > 0:
				protocol = data[0]
			case kind == ctaTupleL4 && (inner == ctaL4Src || inner == ctaL4Dst) && len(data) >= 2:
				ports[inner-ctaL4Src] = binary.BigEndian.Uint16(data)
			}
		}
	}
	return netip.AddrPortFrom(addrs[0], ports[0]), netip.AddrPortFrom(addrs[1], ports[1]), protocol
}
