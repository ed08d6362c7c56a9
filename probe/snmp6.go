package probe

import (
	"bytes"
	"fmt"
)

// snmp6 counts what the namespace's protocols of IPv6 did.
func snmp6() Probe {
	return Probe{
		Name: "snmp6", Doc: "IPv6, ICMPv6 and UDP over IPv6: packets, errors and drops", Scope: Namespace, Source: "/proc/net/snmp6",
		count: parsed("proc/thread-self/net/snmp6", parseSNMP6),
	}
}

// parseSNMP6 reads /proc/net/snmp6, of which each line has a name and a number:
// "Ip6InAddrErrors 3". Zeros are left out.
func parseSNMP6(data []byte) (map[string]float64, error) {
	counters := map[string]float64{}
	for line := range bytes.Lines(data) {
		fields := bytes.Fields(line)
		if len(fields) != 2 {
			return nil, fmt.Errorf("parse protocol counters of IPv6: line %q has not a name and a number", line)
		}
		value, err := parseCounter(fields[1])
		if err != nil {
			return nil, fmt.Errorf("parse protocol counters of IPv6: %w", err)
		}
		if value != 0 {
			counters[string(fields[0])] = float64(value)
		}
	}
	return counters, nil
}
