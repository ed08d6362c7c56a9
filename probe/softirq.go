package probe

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// softirqs counts what each CPU was interrupted for.
func softirqs() Probe {
	return Probe{
		Name: "softirqs", Doc: "soft interrupts of each CPU, by kind", Scope: Machine, Source: "/proc/softirqs",
		wraps: width32,
		count: parsed("proc/softirqs", parseSoftirqs),
	}
}

// parseSoftirqs reads /proc/softirqs: a line of CPUs, then a line of each kind
// (show_softirqs in fs/proc/softirqs.c). A name is "cpu0.NET_RX".
func parseSoftirqs(data []byte) (map[string]float64, error) {
	counters := map[string]float64{}
	var cpus []string
	for line := range bytes.Lines(data) {
		fields := bytes.Fields(line)
		if cpus == nil {
			for _, field := range fields {
				cpus = append(cpus, strings.ToLower(string(field)))
			}
			continue
		}
		if len(fields) == 0 || len(fields) != len(cpus)+1 {
			return nil, fmt.Errorf("parse softirqs: line %q does not have a number for each of %d CPUs", line, len(cpus))
		}
		kind := string(bytes.TrimSuffix(fields[0], []byte(":")))
		for n, field := range fields[1:] {
			value, err := strconv.ParseUint(string(field), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("parse softirqs: %s: %w", kind, err)
			}
			counters[cpus[n]+"."+kind] = float64(value)
		}
	}
	if len(cpus) == 0 {
		return nil, errors.New("parse softirqs: no CPU: is this /proc/softirqs?")
	}
	return counters, nil
}
