package probe

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
)

// Protocols reads the protocol counters (SNMP MIBs of RFC 1213 and Linux's own)
// in the network namespace of the calling thread, from net/snmp and
// net/netstat, by group and name: "Udp.RcvbufErrors", "TcpExt.ListenOverflows".
// A counter that this kernel does not have is absent. A few are gauges or
// limits ("Tcp.CurrEstab", "Tcp.MaxConn"), and may be negative.
func Protocols(root string) (map[string]int64, error) {
	counters := map[string]int64{}
	for _, name := range []string{"snmp", "netstat"} {
		path := filepath.Join(root, "proc/thread-self/net", name)
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		part, err := ParseProtocols(data)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		maps.Copy(counters, part)
	}
	return counters, nil
}

// ParseProtocols reads /proc/net/snmp or /proc/net/netstat: pairs of lines
// "Group: names..." and "Group: values..." (net/ipv4/proc.c). A group may come
// in several pairs.
func ParseProtocols(data []byte) (map[string]int64, error) {
	counters := map[string]int64{}
	var names [][]byte
	for line := range bytes.Lines(data) {
		fields := bytes.Fields(line)
		if len(fields) == 0 || len(fields[0]) < 2 || !bytes.HasSuffix(fields[0], []byte(":")) {
			return nil, fmt.Errorf("parse protocol counters: line %q has no group", line)
		}
		if names == nil {
			names = fields
			continue
		}
		if err := pair(counters, names, fields); err != nil {
			return nil, fmt.Errorf("parse protocol counters: %w", err)
		}
		names = nil
	}
	if names != nil {
		return nil, fmt.Errorf("parse protocol counters: group %q has no values", names[0])
	}
	return counters, nil
}

// pair adds the counters of one group; the first field of both is "Group:".
func pair(counters map[string]int64, names, values [][]byte) error {
	if !bytes.Equal(names[0], values[0]) || len(names) != len(values) {
		return fmt.Errorf("group %q has %d names, and %d values of group %q follow",
			names[0], len(names)-1, len(values)-1, values[0])
	}
	group := string(bytes.TrimSuffix(names[0], []byte(":")))
	for n := 1; n < len(names); n++ {
		value, err := parseCounter(string(values[n]))
		if err != nil {
			return fmt.Errorf("counter %s.%s: %w", group, names[n], err)
		}
		counters[group+"."+string(names[n])] = value
	}
	return nil
}

// parseCounter reads a signed or unsigned number of 64 bits. A gauge that is
// summed over CPUs while it changes can show -1 as an unsigned number.
func parseCounter(text string) (int64, error) {
	if value, err := strconv.ParseInt(text, 10, 64); err == nil {
		return value, nil
	}
	value, err := strconv.ParseUint(text, 10, 64)
	return int64(value), err
}
