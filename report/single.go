package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"tare/result"
)

// Single writes a result of one run: a line for each metric, and before them,
// with steps, a line for each step of its series.
func Single(w io.Writer, res *result.Result, steps bool, opts Options) error {
	p := newPage(opts)
	for n := range res.Cells {
		cell := &res.Cells[n]
		p.line(fmt.Sprintf("%s, %s, %s", cell.Workload, cell.Mode, paramsText(cell.Params)))
		for _, s := range cell.Samples {
			if !p.sweep(s.Series) && steps {
				p.series(cell, s)
			}
		}
		for _, m := range cell.Metrics {
			p.line(fmt.Sprintf("  %-20s %s", m.Name, scaleFor(m.Unit, m.Value).withUnit(m.Value)))
		}
		warned := map[string]bool{}
		for _, m := range cell.Metrics {
			for _, text := range m.Warnings {
				warned[text] = true
			}
		}
		for _, text := range slices.Sorted(maps.Keys(warned)) {
			p.item("  ! ", text)
		}
	}
	return p.to(w, "report")
}

// paramsText is what a run was asked for, in a few words.
func paramsText(params result.Params) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		words = append(words, fmt.Sprintf("%s %v", name, params[name]))
	}
	return strings.Join(words, ", ")
}

// series prints a line for each step of a sample's series over time.
func (p *page) series(c *result.Cell, s result.Sample) {
	quantities := quantitiesOf(s.Series)
	if len(quantities) == 0 {
		return
	}
	from := 0.0
	for step, to := range stepEnds(c, s, len(s.Series[quantities[0].Name])) {
		p.line(fmt.Sprintf("  %6.2f-%-6.2f s", from, to) + wordsAt(s.Series, quantities, step))
		from = to
	}
}

// sweep prints a line for each step of a series over sizes or offered loads,
// if it is one.
func (p *page) sweep(series map[string][]float64) bool {
	for _, over := range []result.Quantity{{Name: "size", Unit: "bytes"}, {Name: "offered", Unit: "1/s"}} {
		steps, swept := series[over.Name]
		if !swept {
			continue
		}
		quantities := quantitiesOf(series)
		if over.Name == "offered" {
			quantities = append([]result.Quantity{{Name: "received", Unit: "1/s"}}, quantities...)
		}
		order := make([]int, len(steps))
		for n := range order {
			order[n] = n
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(steps[a], steps[b]) })
		for _, step := range order {
			at := scaleFor(over.Unit, steps[step]).withUnit(steps[step])
			if over.Name == "size" { // in powers of two, which no decimal unit distinguishes
				at = fmt.Sprintf("%.0f bytes", steps[step])
			}
			p.line(fmt.Sprintf("  %s %12s", over.Name, at) + wordsAt(series, quantities, step))
		}
		return true
	}
	return false
}

// quantitiesOf are those of a series that have a unit known here.
func quantitiesOf(series map[string][]float64) []result.Quantity {
	var found []result.Quantity
	for _, q := range append(result.Quantities(), result.Quantity{Name: "cwnd", Unit: "count"}, result.Quantity{Name: "rtt", Unit: "s"}) {
		if len(series[q.Name]) > 0 {
			found = append(found, q)
		}
	}
	return found
}

// wordsAt are the values of one step.
func wordsAt(series map[string][]float64, quantities []result.Quantity, step int) string {
	var text strings.Builder
	for _, q := range quantities {
		if values := series[q.Name]; step < len(values) {
			text.WriteString("  " + q.Name + " " + scaleFor(q.Unit, values[step]).withUnit(values[step]))
		}
	}
	return text.String()
}
