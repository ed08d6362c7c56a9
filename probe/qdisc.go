package probe

import (
	"encoding/binary"
	"iter"

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
			return parseQdiscs(dumped, names), nil
		},
	}
}

// The attributes of a queueing discipline (include/uapi/linux/rtnetlink.h,
// gen_stats.h); package unix has not all of them.
const (
	tcaKind       = 1
	tcaOptions    = 2
	tcaStats2     = 7
	tcaStatsBasic = 1  // struct gnet_stats_basic
	tcaStatsQueue = 3  // struct gnet_stats_queue
	tcmsgSize     = 20 // struct tcmsg
)

// tcMessage is one queueing discipline, class or filter of a device.
type tcMessage struct {
	device         string
	kind           string // "tbf", "u32"
	body           []byte // with struct tcmsg
	options, stats []byte
}

// tcMessages are those of one type of an answer. A device that is not among the names is new.
func tcMessages(dumped []byte, of uint16, names map[uint32]string) iter.Seq[tcMessage] {
	return func(yield func(tcMessage) bool) {
		for m := range messages(dumped) {
			if m.kind != of || len(m.body) < tcmsgSize {
				continue
			}
			t := tcMessage{device: names[number32(m.body[4:])], body: m.body}
			for attr, value := range attributes(m.body, tcmsgSize) {
				switch attr {
				case tcaKind:
					t.kind = word(value)
				case tcaOptions:
					t.options = value
				case tcaStats2:
					t.stats = value
				}
			}
			if t.device != "" && !yield(t) {
				return
			}
		}
	}
}

// parseQdiscs reads the answer to RTM_GETQDISC. A name is that of the device,
// of the kind and of the counter: "eth0.tbf.dropped". Several of a kind on one
// device are one sum. A device without a queue counts nothing.
func parseQdiscs(dumped []byte, names map[uint32]string) map[string]float64 {
	counters := map[string]float64{}
	for m := range tcMessages(dumped, unix.RTM_NEWQDISC, names) {
		if m.kind != "noqueue" {
			addQdisc(counters, m.device+"."+m.kind, m.stats)
		}
	}
	return counters
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
