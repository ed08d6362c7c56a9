package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"tare/network"
	"tare/result"
)

// Comparison writes how a result differs from an older one: what the machines
// differ in first. The only error is that of w.
func Comparison(w io.Writer, c result.Comparison, opts Options) error {
	p := &page{columns: maxWidth, colour: opts.Colour}
	p.compared(c)
	for _, t := range tablesOf(c) {
		p.title(t.title)
		p.print(t.columns(c.Judged))
		for _, d := range t.differ {
			p.item("  ", differenceText(d))
		}
	}
	p.single(c.Single)
	p.unmet(c.Unmet)
	if _, err := w.Write(p.Bytes()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// compared says what is set beside what, and by what it is judged.
func (p *page) compared(c result.Comparison) {
	p.item("old: ", comparedText(c.Old))
	p.item("new: ", comparedText(c.New))
	how := "Two experiments, unpaired: what moved the machine between them is in the intervals only as far as their blocks show it."
	if c.Paired {
		how = "One experiment: paired by its blocks."
	}
	p.item("", how)
	if len(c.Differ) > 0 {
		p.line(p.paint("What was measured on differs:", yellow))
		for _, d := range c.Differ {
			p.item("  ", differenceText(d))
		}
		p.item("", "So a change is that of the toll, what a network costs beside its own host; the hosts themselves are not judged.")
	}
	p.item("", "A change is of new against old: + is worse. [low, high] is its 95 % interval.")
	if len(c.Cells) == 0 {
		p.line(p.paint("No cell is in both: the same network, path, workload, mode and parameters.", yellow))
	}
}

func comparedText(c result.Compared) string {
	text := c.File
	if c.Started != "" {
		text += ", of " + c.Started
	}
	if c.Version != "" {
		text += ", by tare " + c.Version
	}
	return text
}

func differenceText(d result.Difference) string {
	name := func(s string) string {
		if s == "" {
			return "unknown"
		}
		return s
	}
	return d.Name + ": " + name(d.Old) + " -> " + name(d.New)
}

// comparisonTable is what was compared on one path under one workload.
type comparisonTable struct {
	title  string
	rows   []comparedRow
	differ []result.Difference
}

type comparedRow struct {
	network string
	metric  result.ComparedMetric
}

// comparedMetrics are those that have a row; programs get all.
func comparedMetrics() []string {
	return []string{"throughput", "rate", "rtt_p50", "rtt_p99", "latency_p50", "latency_p99", "loss"}
}

// tablesOf sorts the cells into tables, in the order of the newer result.
func tablesOf(c result.Comparison) []*comparisonTable {
	var tables []*comparisonTable
	for _, cell := range c.Cells {
		setting, own := split(cell.Params)
		for _, name := range []string{"duration", "warmup"} {
			delete(own, name)
		}
		title := cell.Path + ": " + cell.Workload
		if cell.Mode != "" {
			title += " (" + cell.Mode + ")"
		}
		for _, more := range []result.Params{setting, own} {
			for _, name := range slices.Sorted(maps.Keys(more)) {
				title += ", " + name + " " + paramText(more[name])
			}
		}
		at := slices.IndexFunc(tables, func(t *comparisonTable) bool { return t.title == title })
		if at < 0 {
			at = len(tables)
			tables = append(tables, &comparisonTable{title: title})
		}
		t := tables[at]
		for _, d := range cell.Differ {
			if !slices.Contains(t.differ, d) {
				t.differ = append(t.differ, d)
			}
		}
		name := row{network: cell.Network, settings: settingsOf(&result.Cell{Params: cell.Params})}.name()
		for _, m := range cell.Metrics {
			if slices.Contains(comparedMetrics(), m.Name) {
				t.rows = append(t.rows, comparedRow{name, m})
			}
		}
	}
	return slices.DeleteFunc(tables, func(t *comparisonTable) bool { return len(t.rows) == 0 })
}

// columns lay a table out.
func (t *comparisonTable) columns(judged string) grid {
	names := column{unit: "network"}
	metrics := column{unit: "metric"}
	old, recent := column{unit: "old", right: true}, column{unit: "new", right: true}
	change, ends := column{unit: "change, %", right: true}, column{joined: true}
	tolls := column{unit: "toll, %: old -> new"}
	verdicts := column{unit: "verdict"}
	before := ""
	for _, r := range t.rows {
		name := r.network
		if name == before {
			name = ""
		}
		before = r.network
		s := scaleFor(r.metric.Unit, r.metric.Old, r.metric.New)
		names.cells = append(names.cells, cell{text: name})
		metrics.cells = append(metrics.cells, cell{text: heading(r.metric.Name)})
		old.cells = append(old.cells, cell{text: s.show(r.metric.Old)})
		recent.cells = append(recent.cells, cell{text: s.withUnit(r.metric.New)})
		var number, interval cell
		verdict := cell{text: "-"}
		if c := r.metric.Judged(judged); c != nil {
			number.text, interval.text = scaleFor("ratio").difference(c.Value, c.Low, c.High)
			verdict = cell{text: clip(clean(c.Verdict), 12), style: styleOf(c.Verdict)}
		}
		change.cells, ends.cells = append(change.cells, number), append(ends.cells, interval)
		tolls.cells = append(tolls.cells, cell{text: tollsText(r)})
		verdicts.cells = append(verdicts.cells, verdict)
	}
	all := grid{names, metrics, old, recent, change, ends, tolls, verdicts}
	return slices.DeleteFunc(all, func(c column) bool { return c.unit != "network" && c.empty() })
}

// tollsText is a toll then and now, which the host itself has not.
func tollsText(r comparedRow) string {
	if r.network == network.Baseline || r.metric.OldToll == nil || r.metric.NewToll == nil {
		return ""
	}
	show := func(toll *result.Toll) string {
		text, _ := scaleFor("ratio").difference(toll.Value, nil, nil)
		return text
	}
	return show(r.metric.OldToll) + " -> " + show(r.metric.NewToll)
}

// single lists the cells that one result alone has.
func (p *page) single(cells []result.SingleCell) {
	if len(cells) == 0 {
		return
	}
	p.title("Measured in one only")
	for _, s := range cells {
		text := s.Cell
		if s.Reason != "" {
			text += ": the other " + s.Reason
		}
		p.item("  "+s.In+": ", text)
	}
}

// unmet lists the limits that were passed.
func (p *page) unmet(list []result.Unmet) {
	if len(list) == 0 {
		return
	}
	p.title("Limits that were passed")
	for _, u := range list {
		text := strings.TrimSpace(u.Cell+" "+u.Metric) + ": "
		if u.Reason != "" {
			text += u.Reason
		} else {
			text += fmt.Sprintf("%s, at least %s", percent(u.Value), percent(u.Low))
		}
		p.item("  --"+u.Gate+" "+percent(u.Limit)+"  ", text)
	}
}
