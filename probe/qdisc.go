package probe

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// qdiscs counts what each device's queueing discipline passed and dropped.
func qdiscs() Probe {
	return Probe{
		Name: "qdisc", Doc: "packets, drops and overlimits of each queueing discipline", Scope: Namespace, Source: "tc -s qdisc",
		wraps: width32,
		count: func(v *view) (map[string]float64, error) {
			dumped, err := v.queues()
			if err != nil {
				return nil, err
			}
			names, err := v.names()
			if err != nil {
				return nil, err
			}
			return parseQdiscs(dumped, names)
		},
	}
}

// The attributes of a queueing discipline (include/uapi/linux/rtnetlink.h,
// gen_stats.h); package unix has not all of them.
const (
	tcaKind       = 1
	tcaStats2     = 7
	tcaStatsBasic = 1  // struct gnet_stats_basic
	tcaStatsQueue = 3  // struct gnet_stats_queue
	tcmsgSize     = 20 // struct tcmsg
)

// parseQdiscs reads the answer to RTM_GETQDISC. A name is that of the device,
// of the kind and of the counter: "eth0.tbf.dropped". Several of a kind on one
// device are one sum. A device without a queue counts nothing.
func parseQdiscs(dumped []byte, names map[uint32]string) (map[string]float64, error) {
	counters := map[string]float64{}
	for m := range messages(dumped) {
		if m.kind != unix.RTM_NEWQDISC {
			continue
		}
		if len(m.body) < tcmsgSize {
			return nil, fmt.Errorf("parse queueing disciplines: a message of %d bytes", len(m.body))
		}
		name, known := names[number32(m.body[4:])]
		if !known {
			continue // the device is new
		}
		kind, stats := "", []byte(nil)
		for attr, value := range attributes(m.body, tcmsgSize) {
			switch attr {
			case tcaKind:
				kind = word(value)
			case tcaStats2:
				stats = value
			}
		}
		if kind != "noqueue" {
			addQdisc(counters, name+"."+kind, stats)
		}
	}
	return counters, nil
}

func addQdisc(counters map[string]float64, name string, stats []byte) {
	for attr, value := range attributes(stats, 0) {
		switch {
		case attr == tcaStatsBasic && len(value) >= 12:
			counters[name+".bytes"] += float64(binary.NativeEndian.Uint64(value))
			counters[name+".packets"] += float64(number32(value[8:]))
		case attr == tcaStatsQueue && len(value) >= 20:
			counters[name+".dropped"] += float64(number32(value[8:]))
			counters[name+".requeues"] += float64(number32(value[12:]))
			counters[name+".overlimits"] += float64(number32(value[16:]))
		}
	}
}
