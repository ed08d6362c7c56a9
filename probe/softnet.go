package probe

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// softnet counts how each CPU fared with the packets that it received.
func softnet() Probe {
	return Probe{
		Name: "softnet", Doc: "packets that each CPU processed, dropped, left for later or was steered", Scope: Machine, Source: "/proc/net/softnet_stat",
		wraps: width32,
		count: parsed("proc/net/softnet_stat", parseSoftnet),
	}
}

// parseSoftnet reads /proc/net/softnet_stat: hexadecimal columns, a line for
// each CPU that is online (softnet_seq_show in net/core/net-procfs.c). Before
// Linux 5.10 a line does not name its CPU: its position does.
func parseSoftnet(data []byte) (map[string]float64, error) {
	const cpuColumn = 12
	counters := map[string]float64{}
	line := 0
	for text := range bytes.Lines(data) {
		var columns []uint64
		for field := range bytes.FieldsSeq(text) {
			value, err := strconv.ParseUint(string(field), 16, 32)
			if err != nil {
				return nil, fmt.Errorf("parse softnet counters: line %d: %w", line+1, err)
			}
			columns = append(columns, value)
		}
		if len(columns) < 3 {
			return nil, fmt.Errorf("parse softnet counters: line %d has %d columns", line+1, len(columns))
		}
		cpu := uint64(line)
		if len(columns) > cpuColumn {
			cpu = columns[cpuColumn]
		}
		for name, column := range map[string]int{"processed": 0, "dropped": 1, "squeezed": 2, "received_rps": 9, "flow_limited": 10} {
			if column < len(columns) {
				counters[fmt.Sprintf("cpu%d.%s", cpu, name)] = float64(columns[column])
			}
		}
		line++
	}
	if line == 0 {
		return nil, errors.New("parse softnet counters: no line: is this /proc/net/softnet_stat?")
	}
	return counters, nil
}
