package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
)

// writeGoBench writes the Go benchmark format (golang.org/design/14313-benchmark-format):
// a line per sample with all its metrics, whose units carry the metric's name,
// and for each unit which way is better. Lines of files that are to be compared
// have the same name, so what differs from run to run (id, time, lengths of
// windows) is left out.
func writeGoBench(w io.Writer, results []*result.Result, _ string) (left []string, err error) {
	var lines []string
	units := map[string]result.Better{}
	for _, res := range results {
		for i := range res.Cells {
			c := &res.Cells[i]
			name, wrote := benchName(c), false
			for _, s := range c.Samples {
				if values := benchValues(s, units); values != "" {
					lines, wrote = append(lines, name+" 1"+values), true
				}
			}
			if !wrote {
				left = append(left, nameOf(c))
			}
		}
	}
	if len(lines) == 0 {
		return left, nil
	}
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		if _, err := fmt.Fprintf(w, "Unit %s better=%s\n", unit, units[unit]); err != nil {
			return left, fmt.Errorf("write report: %w", err)
		}
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", strings.Join(lines, "\n")); err != nil {
		return left, fmt.Errorf("write report: %w", err)
	}
	return left, nil
}

// benchValues are a sample's metrics as "<value> <unit>" pairs.
func benchValues(s result.Sample, units map[string]result.Better) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.Metrics)) {
		q, known := result.QuantityOf(name)
		if !known {
			continue
		}
		unit := benchUnit(q)
		units[unit] = q.Better
		fmt.Fprintf(&text, " %v %s", s.Metrics[name], unit)
	}
	return text.String()
}

// benchUnit is a metric's name with its unit as benchstat knows it: it scales
// "sec" and leaves others as they are.
func benchUnit(q result.Quantity) string {
	switch q.Unit {
	case "s":
		return q.Name + "-sec"
	case "1/s":
		return q.Name + "/s"
	case "bit/s":
		return q.Name + "-bit/s"
	}
	return q.Name + "-" + q.Unit
}

// benchName is the name of a cell's lines: BenchmarkTCPStream/network=vxlan/...
func benchName(c *result.Cell) string {
	parts := []string{"Benchmark" + benchWorkload(c.Workload)}
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, benchWord(key)+"="+benchWord(value))
		}
	}
	add("network", c.Network)
	add("path", c.Path)
	add("mode", c.Mode)
	for _, key := range slices.Sorted(maps.Keys(c.Params)) {
		if axis, _ := result.AxisOf(key); axis.Of != result.OfTime && key != "file" {
			add(key, given(*c, key))
		}
	}
	return procs.ReplaceAllString(strings.Join(parts, "/"), "_$1")
}

// benchWorkload writes a workload as a benchmark's name: TCPStream, HTTP.
func benchWorkload(name string) string {
	if kind, known := catalog.FindWorkload(name); known {
		return kind.Camel
	}
	camel := ""
	for word := range strings.SplitSeq(benchWord(name), "_") {
		if word != "" {
			camel += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return cmp.Or(camel, "Unknown")
}

var (
	notInNames = regexp.MustCompile(`[^A-Za-z0-9_.,:+%-]+`)
	// procs is what benchstat would take for a number of processors.
	procs = regexp.MustCompile(`-(\d+)$`)
)

// benchWord makes a value one word of a name.
func benchWord(value string) string { return notInNames.ReplaceAllString(result.Plain(value), "_") }
