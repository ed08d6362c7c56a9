package probe

import (
	"bytes"
	"fmt"
	"strconv"
)

// snmp counts what the namespace's protocols did (SNMP MIBs of RFC 1213).
func snmp() Probe {
	return protocols(Probe{
		Name: "snmp", Doc: "IP, ICMP, TCP and UDP: packets, errors and drops", Scope: Namespace, Source: "/proc/net/snmp",
	}, "snmp")
}

// netstat counts what Linux counts beyond those.
func netstat() Probe {
	return protocols(Probe{
		Name: "netstat", Doc: "TCP and IP: drops, timeouts, reordering and the like", Scope: Namespace, Source: "/proc/net/netstat",
	}, "netstat")
}

// protocols completes a probe of a file of protocol counters. Nine of ten are
// zero in most namespaces: they are left out, since each takes time to name.
func protocols(p Probe, name string) Probe {
	p.count = parsed("proc/thread-self/net/"+name, func(data []byte) (map[string]float64, error) {
		values := map[string]float64{}
		err := eachProtocol(data, func(group, name []byte, value int64) {
			if value != 0 {
				values[string(group)+"."+string(name)] = float64(value)
			}
		})
		return values, err
	})
	return p
}

// eachProtocol visits every counter of /proc/net/snmp or /proc/net/netstat:
// "Udp" and "RcvbufErrors", "TcpExt" and "ListenOverflows". The files have pairs
// of lines "Group: names..." and "Group: values..." (net/ipv4/proc.c); a group
// may come in several pairs. A counter that this kernel does not have is absent.
// A few are gauges or limits ("Tcp.CurrEstab", "Tcp.MaxConn"), and may be
// negative.
func eachProtocol(data []byte, visit func(group, name []byte, value int64)) error {
	for len(data) > 0 {
		var names, values []byte
		names, data, _ = bytes.Cut(data, []byte("\n"))
		values, data, _ = bytes.Cut(data, []byte("\n"))
		if err := pair(names, values, visit); err != nil {
			return fmt.Errorf("parse protocol counters: %w", err)
		}
	}
	return nil
}

// pair visits the counters of one group; the first field of both lines is
// "Group:".
func pair(names, values []byte, visit func(group, name []byte, value int64)) error {
	group, names := field(names)
	same, values := field(values)
	if len(group) < 2 || !bytes.HasSuffix(group, []byte(":")) {
		return fmt.Errorf("line %q has no group", group)
	}
	if !bytes.Equal(group, same) {
		return fmt.Errorf("group %q is followed by %q, not its values", group, same)
	}
	group = bytes.TrimSuffix(group, []byte(":"))
	for {
		var name, value []byte
		name, names = field(names)
		value, values = field(values)
		switch {
		case len(name) == 0 && len(value) == 0:
			return nil
		case len(name) == 0 || len(value) == 0:
			return fmt.Errorf("group %q has more of names or of values", group)
		}
		count, err := parseCounter(value)
		if err != nil {
			return fmt.Errorf("counter %s.%s: %w", group, name, err)
		}
		visit(group, name, count)
	}
}

// field cuts the first word off a line.
func field(line []byte) (word, rest []byte) {
	line = bytes.TrimLeft(line, " ")
	word, rest, _ = bytes.Cut(line, []byte(" "))
	return word, rest
}

// parseCounter reads a signed or unsigned number of 64 bits. A gauge that is
// summed over CPUs while it changes can show -1 as an unsigned number.
func parseCounter(text []byte) (int64, error) {
	if len(text) == 1 && text[0] == '0' { // as most are
		return 0, nil
	}
	if value, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return value, nil
	}
	value, err := strconv.ParseUint(string(text), 10, 64)
	return int64(value), err
}
