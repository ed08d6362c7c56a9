package probe

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// statTable completes a probe whose source is a table of /proc/net/stat.
func statTable(p Probe, path string) Probe {
	p.wraps = width32
	p.count = parsed(path, parseStatTable)
	return p
}

// parseStatTable reads a table of /proc/net/stat: a line of names, then one of
// hexadecimal numbers for each CPU, which are summed. The column "entries" is
// left out: it is the same in every line and no counter.
func parseStatTable(data []byte) (map[string]float64, error) {
	counters := map[string]float64{}
	var names [][]byte
	for line := range bytes.Lines(data) {
		fields := bytes.Fields(line)
		if names == nil {
			names = fields
			continue
		}
		if len(fields) != len(names) {
			return nil, fmt.Errorf("parse table: %d names and %d numbers", len(names), len(fields))
		}
		for n, field := range fields {
			value, err := strconv.ParseUint(string(field), 16, 64)
			if err != nil {
				return nil, fmt.Errorf("parse table: %s: %w", names[n], err)
			}
			if string(names[n]) != "entries" {
				counters[string(names[n])] += float64(value)
			}
		}
	}
	if len(names) == 0 {
		return nil, errors.New("parse table: no names: is this a file of /proc/net/stat?")
	}
	return counters, nil
}
