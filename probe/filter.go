package probe

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// filters lists the traffic control filters of devices: "eth0 ingress protocol ip pref 1
// handle 800::800 u32" is "redirect stray0".
func filters() Probe {
	return Probe{
		Name: "filters", Doc: "what traffic control's filters do with packets", Scope: Namespace, Source: "tc -s filter",
		look: func(v *view) (map[string]any, error) {
			all, err := v.filters()
			values := map[string]any{}
			for _, f := range all {
				values[f.name] = f.fate
			}
			return values, err
		},
	}
}

// filterCounters counts what each filter's action did; programs count nothing.
func filterCounters() Probe {
	return Probe{
		Name: "filter_counters", Doc: "packets that met each traffic control filter's action", Scope: Namespace, Source: "tc -s filter",
		wraps: width32,
		count: func(v *view) (map[string]float64, error) {
			all, err := v.filters()
			counters := map[string]float64{}
			for _, f := range all {
				counters[f.name+".packets"] += f.packets
				counters[f.name+".dropped"] += f.dropped
			}
			return counters, err
		},
	}
}

// filter is one filter, by the words that tc(8) knows it by.
type filter struct {
	name, fate       string
	packets, dropped float64
}

// The sides of a device at which filters are (include/uapi/linux/pkt_sched.h).
const (
	tcIngress = 0xfffffff2
	tcEgress  = 0xfffffff3
	tcRoot    = 0xffffffff
)

// filters lists the filters of all devices. Only few queueing disciplines can have some.
func (v *view) filters() (all []filter, err error) {
	dumped, err := v.queues()
	if err != nil {
		return nil, err
	}
	names, err := v.names()
	if err != nil {
		return nil, err
	}
	for m := range tcMessages(slices.Clone(dumped), unix.RTM_NEWQDISC, names) {
		for side, parent := range filterParents(m) {
			request := ofDevice(number32(m.body[4:]))
			binary.NativeEndian.PutUint32(request[12:], parent)
			found, err := v.dump(unix.NETLINK_ROUTE, unix.RTM_GETTFILTER, request)
			if err != nil {
				return nil, fmt.Errorf("list filters of %s: %w", m.device, err)
			}
			all = append(all, parseFilters(found, names, side)...)
		}
	}
	return all, nil
}

// filterParents are the sides at which a queueing discipline may have filters, and what
// the kernel calls them.
func filterParents(m tcMessage) map[string]uint32 {
	switch m.kind {
	case "ingress":
		return map[string]uint32{"ingress": tcIngress}
	case "clsact":
		return map[string]uint32{"ingress": tcIngress, "egress": tcEgress}
	case "htb", "hfsc", "prio", "drr", "ets", "qfq", "multiq":
		if number32(m.body[12:]) == tcRoot {
			return map[string]uint32{"root": number32(m.body[8:])}
		}
	}
	return nil
}

// parseFilters reads the answer to RTM_GETTFILTER.
func parseFilters(dumped []byte, names map[uint32]string, side string) (all []filter) {
	for m := range tcMessages(dumped, unix.RTM_NEWTFILTER, names) {
		info, handle := number32(m.body[16:]), number32(m.body[8:])
		f := filter{name: fmt.Sprintf("%s %s protocol %s pref %d handle %s %s", m.device, side, etherName(info), info>>16, filterHandle(m.kind, handle), m.kind)}
		if f.act(m.kind, m.options, names); f.fate != "" {
			all = append(all, f)
		}
	}
	return all
}

// etherName names the protocol of a filter, in network order, as tc(8) does.
func etherName(info uint32) string {
	number := uint16(info)<<8 | uint16(info)>>8
	names := map[uint16]string{unix.ETH_P_ALL: "all", unix.ETH_P_IP: "ip", unix.ETH_P_IPV6: "ipv6", unix.ETH_P_ARP: "arp", unix.ETH_P_8021Q: "802.1Q"}
	if name, known := names[number]; known {
		return name
	}
	return strconv.Itoa(int(number))
}

// filterHandle writes a handle as tc(8) does: of u32 a table, a bucket and a node.
func filterHandle(kind string, handle uint32) string {
	if kind != "u32" {
		return fmt.Sprintf("0x%x", handle)
	}
	bucket := ""
	if n := handle >> 12 & 0xff; n != 0 {
		bucket = strconv.FormatUint(uint64(n), 16)
	}
	return fmt.Sprintf("%x:%s:%x", handle>>20, bucket, handle&0xfff)
}

// act reads what a filter does with packets that match. Source: pkt_cls.h.
func (f *filter) act(kind string, options []byte, names map[uint32]string) {
	const bpfFlags, direct = 8, 1
	actions := map[string]uint16{"u32": 7, "flower": 3, "bpf": 1, "matchall": 2, "basic": 3, "fw": 4}
	var fates []string
	for attr, value := range attributes(options, 0) {
		switch {
		case kind == "bpf" && attr == bpfFlags && number32(value)&direct != 0:
			fates = append(fates, "program")
		case attr == actions[kind] && actions[kind] != 0:
			for _, action := range attributes(value, 0) {
				fates = append(fates, f.action(action, names))
			}
		}
	}
	f.fate = strings.Join(fates, ", ")
}

// action reads one action: its kind, its parameters and what it counted.
func (f *filter) action(body []byte, names map[uint32]string) string {
	const actKind, actOptions, actStats, parameters, verdictAt, modeAt, deviceAt = 1, 2, 4, 2, 8, 20, 24
	kind, given := "", []byte(nil)
	for attr, value := range attributes(body, 0) {
		switch attr {
		case actKind:
			kind = word(value)
		case actOptions:
			for name, value := range attributes(value, 0) {
				if name == parameters {
					given = value
				}
			}
		case actStats:
			for name, value := range attributes(value, 0) {
				if name == tcaStatsBasic && len(value) >= 12 {
					f.packets = max(f.packets, float64(number32(value[8:])))
				}
				if name == tcaStatsQueue && len(value) >= 12 {
					f.dropped += float64(number32(value[8:]))
				}
			}
		}
	}
	switch {
	case kind == "gact" && len(given) > verdictAt:
		verdicts := map[uint32]string{0: "pass", 1: "reclassify", 2: "drop", 3: "continue", 4: "drop"}
		return verdicts[number32(given[verdictAt:])]
	case kind == "mirred" && len(given) > deviceAt:
		modes := map[uint32]string{1: "redirect", 2: "mirror", 3: "redirect", 4: "mirror"}
		return modes[number32(given[modeAt:])] + " " + names[number32(given[deviceAt:])]
	}
	return kind
}
