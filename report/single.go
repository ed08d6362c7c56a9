package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"tare/result"
)

// Single writes a result of one run: a line for each metric, and before them a
// line for each interval of its series where interval is above zero.
func Single(w io.Writer, res *result.Result, interval time.Duration, opts Options) error {
	p := &page{columns: maxWidth, colour: opts.Colour}
	for n := range res.Cells {
		cell := &res.Cells[n]
		p.line(fmt.Sprintf("%s, %s, %s", cell.Workload, cell.Mode, paramsText(cell.Params)))
		for _, s := range cell.Samples {
			if interval > 0 {
				p.series(s.Series, interval)
			}
		}
		for _, m := range cell.Metrics {
			p.line(fmt.Sprintf("  %-20s %s", m.Name, scaleFor(m.Unit, m.Value).withUnit(m.Value)))
		}
		warned := map[string]bool{}
		for _, s := range cell.Samples {
			for _, text := range s.Warnings {
				warned[text] = true
			}
		}
		for _, text := range slices.Sorted(maps.Keys(warned)) {
			p.item("  ! ", text)
		}
	}
	if _, err := w.Write(p.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// paramsText is what a run was asked for, in a few words.
func paramsText(params result.Params) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		words = append(words, fmt.Sprintf("%s %v", name, params[name]))
	}
	return strings.Join(words, ", ")
}

// series prints a line for each step of the series that this program names a
// quantity for.
func (p *page) series(series map[string][]float64, interval time.Duration) {
	var units []result.Quantity
	steps := 0
	for _, q := range append(result.Quantities(), result.Quantity{Name: "cwnd", Unit: "count"}, result.Quantity{Name: "rtt", Unit: "s"}) {
		if values := series[q.Name]; len(values) > 0 {
			units = append(units, q)
			steps = max(steps, len(values))
		}
	}
	for step := range steps {
		at := time.Duration(step) * interval
		words := []string{fmt.Sprintf("  %6.1f-%-6.1f s", at.Seconds(), (at + interval).Seconds())}
		for _, q := range units {
			if values := series[q.Name]; step < len(values) {
				words = append(words, q.Name+" "+scaleFor(q.Unit, values...).withUnit(values[step]))
			}
		}
		p.line(strings.Join(words, "  "))
	}
}
