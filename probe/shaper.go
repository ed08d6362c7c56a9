package probe

import (
	"encoding/binary"
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// shapers reads the rates of queueing disciplines.
func shapers() Probe {
	return Probe{
		Name: "shapers", Doc: "rate and burst of each queueing discipline that has a rate", Scope: Namespace, Source: "tc -d qdisc",
		look: func(v *view) (map[string]any, error) {
			dumped, err := v.queues()
			if err != nil {
				return nil, err
			}
			names, err := v.names()
			if err != nil {
				return nil, err
			}
			values, classful := parseShapers(dumped, names)
			for _, device := range classful {
				classes, err := v.dump(unix.NETLINK_ROUTE, unix.RTM_GETTCLASS, ofDevice(device))
				if err != nil {
					return nil, fmt.Errorf("list classes of %s: %w", names[device], err)
				}
				parseClasses(classes, names, values)
			}
			return values, nil
		},
	}
}

// Of package sched (include/uapi/linux/pkt_sched.h).
const (
	tbfParms        = 1 // struct tc_tbf_qopt
	tbfRate64       = 4
	htbParms        = 1 // struct tc_htb_opt
	htbDirectLength = 5
	htbCeil64       = 7
	fqFlowMaxRate   = 7
	cakeBaseRate64  = 2

	specSize   = 12 // struct tc_ratespec
	specRate   = 8  // its rate: bytes in a second
	tbfBuffer  = 28 // of struct tc_tbf_qopt: the burst as time
	tickLength = 64e-9
	byteBits   = 8
)

// ofDevice is a request for what a device has.
func ofDevice(index uint32) []byte {
	body := make([]byte, tcmsgSize)
	binary.NativeEndian.PutUint32(body[4:], index)
	return body
}

// parseShapers reads the answer to RTM_GETQDISC: "eth0.tbf.rate" (bit/s), ".burst" (bytes);
// of an HTB ".direct" is how many packets without a class are queued. Devices with an HTB have
// their rates in classes.
func parseShapers(dumped []byte, names map[uint32]string) (values map[string]any, classful []uint32) {
	values = map[string]any{}
	for m := range tcMessages(dumped, unix.RTM_NEWQDISC, names) {
		name := m.device + "." + m.kind
		switch m.kind {
		case "tbf":
			addTBF(values, name, m.options)
		case "htb":
			classful = append(classful, number32(m.body[4:]))
			addNumber(values, name+".direct", m.options, htbDirectLength, 1)
		case "fq":
			addNumber(values, name+".rate", m.options, fqFlowMaxRate, byteBits)
		case "cake":
			addNumber(values, name+".rate", m.options, cakeBaseRate64, byteBits)
		}
	}
	return values, classful
}

// addNumber adds a number of options, times a factor. None and the highest are no limit.
func addNumber(values map[string]any, name string, options []byte, attr uint16, times float64) {
	for kind, value := range attributes(options, 0) {
		if n := number(value); kind == attr && n != math.MaxUint32 && (n > 0 || times == 1) {
			values[name] = float64(n) * times
		}
	}
}

// number reads a number of 32 or 64 bits.
func number(value []byte) uint64 {
	if len(value) >= 8 {
		return binary.NativeEndian.Uint64(value)
	}
	return uint64(number32(value))
}

func addTBF(values map[string]any, name string, options []byte) {
	rate, ticks := 0.0, 0.0
	for kind, value := range attributes(options, 0) {
		switch {
		case kind == tbfParms && len(value) >= tbfBuffer+4:
			rate, ticks = max(rate, float64(number32(value[specRate:]))), float64(number32(value[tbfBuffer:]))
		case kind == tbfRate64:
			rate = float64(number(value))
		}
	}
	if rate > 0 {
		values[name+".rate"], values[name+".burst"] = rate*byteBits, math.Round(rate*ticks*tickLength)
	}
}

// class is what a class of an HTB may send at most (byte/s), and has sent (bytes).
type class struct {
	device string
	ceil   float64
	sent   uint64
}

// parseClasses adds the rate of the HTB of a device: the lowest of the classes through which most went.
func parseClasses(dumped []byte, names map[uint32]string, values map[string]any) {
	var all []class
	most := uint64(1)
	for m := range tcMessages(dumped, unix.RTM_NEWTCLASS, names) {
		c := parseClass(m)
		all, most = append(all, c), max(most, c.sent)
	}
	for _, c := range all {
		lowest, has := values[c.device+".htb.rate"].(float64)
		if rate := c.ceil * byteBits; rate > 0 && c.sent >= most/2 && (!has || rate < lowest) {
			values[c.device+".htb.rate"] = rate
		}
	}
}

func parseClass(m tcMessage) class {
	c := class{device: m.device}
	for kind, value := range attributes(m.options, 0) {
		switch {
		case kind == htbParms && len(value) >= 2*specSize:
			c.ceil = max(c.ceil, float64(number32(value[specSize+specRate:])))
		case kind == htbCeil64:
			c.ceil = float64(number(value))
		}
	}
	for kind, value := range attributes(m.stats, 0) {
		if kind == tcaStatsBasic {
			c.sent = number(value)
		}
	}
	return c
}
