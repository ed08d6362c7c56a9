package report

import (
	"maps"
	"slices"
	"strings"

	"tare/result"
	"tare/stats"
)

// cellFamilies are what is written of cells: a family for each unit, since a family has one.
func cellFamilies() []openFamily {
	families := []openFamily{
		{"tare_run_finished_timestamp_seconds", "seconds", "When the run ended, in Unix time.", finishedPoint},
		{"tare_cell_measured", "", "1 for a cell that was measured, 0 for one that failed or was skipped.", measuredPoints},
	}
	for _, u := range openUnits() {
		value := func(m result.Metric) *float64 { return &m.Value }
		low, high := func(m result.Metric) *float64 { return m.Low }, func(m result.Metric) *float64 { return m.High }
		families = append(families,
			openFamily{openName("tare_cell_value", u.suffix), u.suffix, "A metric of a cell" + u.help, metricPoints(u.unit, value)},
			openFamily{openName("tare_cell_low", u.suffix), u.suffix, "The low end of its 95 % interval" + u.help, metricPoints(u.unit, low)},
			openFamily{openName("tare_cell_high", u.suffix), u.suffix, "The high end of its 95 % interval" + u.help, metricPoints(u.unit, high)},
		)
	}
	of := func(end func(*result.Toll) *float64) func(result.Metric) *float64 {
		return func(m result.Metric) *float64 {
			if m.Toll == nil {
				return nil
			}
			return end(m.Toll)
		}
	}
	return append(families,
		openFamily{"tare_cell_toll_ratio", "ratio", "How much worse a network is than the host itself: 0.2 is a fifth less throughput, or a fifth more time.", metricPoints("", of(func(t *result.Toll) *float64 { return &t.Value }))},
		openFamily{"tare_cell_toll_low_ratio", "ratio", "The low end of its 95 % interval.", metricPoints("", of(func(t *result.Toll) *float64 { return t.Low }))},
		openFamily{"tare_cell_toll_high_ratio", "ratio", "The high end of its 95 % interval.", metricPoints("", of(func(t *result.Toll) *float64 { return t.High }))},
		openFamily{"tare_cell_slower", "", "1 where the verdict on the toll is slower, else 0.", metricPoints("", of(slower))},
	)
}

// openUnit is how a unit of files is called in names.
type openUnit struct{ unit, suffix, help string }

// openUnits are those that metrics have.
func openUnits() []openUnit {
	return []openUnit{
		{"s", "seconds", ": a time."},
		{"bit/s", "bits_per_second", ": a throughput."},
		{"1/s", "per_second", ": a rate."},
		{"rpm", "per_minute", ": round trips a minute."},
		{"ratio", "ratio", ": a ratio."},
		{"bytes", "bytes", ": a size."},
		{"count", "", ": a number."},
	}
}

// openName ends in the unit, as the specification asks.
func openName(name, suffix string) string { return strings.TrimSuffix(name+"_"+suffix, "_") }

func slower(t *result.Toll) *float64 {
	is := 0.0
	if t.Verdict == string(stats.Slower) {
		is = 1
	}
	return &is
}

// openCells are the cells whose labels no other one has; same names the others, as of imported runs that
// do not say how they differ.
func openCells(all []result.Cell) (cells []result.Cell, same []string) {
	known := map[string]bool{}
	for _, c := range all {
		labels := openLabels(cellLabels(&c))
		if known[labels] {
			same = append(same, nameOf(&c))
			continue
		}
		known[labels], cells = true, append(cells, c)
	}
	return cells, same
}

// cellLabels name a cell, in all runs in the same way: how long it was measured is no part of it, nor a
// parameter that is as if it were absent. A label that is empty is the same as none.
func cellLabels(c *result.Cell) (labels []string) {
	var params []string
	for _, name := range slices.Sorted(maps.Keys(c.Params)) {
		axis, _ := result.AxisOf(name)
		if text := c.Params.Text(name); text != "" && axis.Of != result.OfTime && text != result.Text(axis.Absent) {
			params = append(params, name+"="+text)
		}
	}
	for _, one := range [][2]string{{"network", c.Network}, {"path", c.Path}, {"workload", c.Workload}, {"mode", c.Mode}, {"params", strings.Join(params, " ")}} {
		if one[1] != "" {
			labels = append(labels, one[0], one[1])
		}
	}
	return labels
}

func measuredPoints(m openMesh) (points []openPoint) {
	for n := range m.cells {
		is := 0.0
		if m.cells[n].Status == result.StatusOK {
			is = 1
		}
		points = append(points, openPoint{cellLabels(&m.cells[n]), is})
	}
	return points
}

// metricPoints are one value of each metric in a unit; empty: in any.
func metricPoints(unit string, of func(result.Metric) *float64) func(openMesh) []openPoint {
	return func(m openMesh) (points []openPoint) {
		for n := range m.cells {
			c := &m.cells[n]
			for _, metric := range c.Metrics {
				if value := of(metric); value != nil && (unit == "" || unit == metric.Unit) {
					points = append(points, openPoint{append(cellLabels(c), "metric", metric.Name), *value})
				}
			}
		}
		return points
	}
}
