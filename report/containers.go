package report

import (
	"math"
	"strconv"

	"tare/catalog"
)

// containers reports whether the table is of containers that were made: one takes
// a thousand times as long as the baseline, a socket or a process.
func (t *table) containers() bool {
	kind, known := catalog.FindWorkload(t.groups[0].Workload)
	return len(t.groups) == 1 && known && kind.MakesContainers()
}

// withoutBaseline are the sizes of a metric's values of the networks alone, in whose unit
// such a table is read; nil in other tables.
func (t *table) withoutBaseline(slot int, metric string) (values []float64) {
	if !t.containers() {
		return nil
	}
	for _, r := range t.rows {
		if m := r.metric(slot, metric); m != nil && r.network != catalog.Baseline && m.Value != 0 {
			values = append(values, math.Abs(m.Value))
		}
	}
	return values
}

// operations is how many containers were made in all blocks.
func (t *table) operations() []column {
	c := column{unit: t.say("made"), right: true, cells: make([]cell, len(t.rows))}
	for i, r := range t.rows {
		made := 0.0
		for _, s := range r.cells[0].Samples {
			made += s.Counters["operations"]
		}
		if made > 0 {
			c.cells[i].text = strconv.FormatFloat(made, 'f', 0, 64)
		}
	}
	if !t.containers() {
		return nil
	}
	return filled(c)
}

// containersFoot explains how to read such a table.
func (t *table) containersFoot() (lines []string) {
	if !t.containers() {
		return nil
	}
	if has(t.groups[0], "latency_network") {
		lines = append(lines, t.say("share_text"))
	}
	if len(t.withoutBaseline(0, "latency_p99")) > 0 {
		lines = append(lines, t.say("p99_text"))
	}
	return lines
}
