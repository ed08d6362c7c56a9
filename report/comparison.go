package report

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"tare/catalog"
	"tare/result"
)

// Comparison writes how a result differs from an older one: the differences between
// the machines first. The only error is that of w.
func Comparison(w io.Writer, c result.Comparison, opts Options) error {
	p := newPage(opts)
	p.compared(c)
	for _, t := range tablesOf(p.words, c) {
		p.title(t.title)
		p.print(t.columns(p.words, c.Judged))
		for _, d := range t.differ {
			p.item("  ", p.difference(d))
		}
	}
	p.single(c.Single)
	p.gates(c)
	return p.to(w, "comparison")
}

// compared prints which results are compared, and how they are judged.
func (p *page) compared(c result.Comparison) {
	p.item(p.say("lead_old"), p.side(c.Old))
	p.item(p.say("lead_new"), p.side(c.New))
	how := p.say("unpaired_results")
	switch {
	case c.Pairs > 0:
		how = p.say("paired_machines", "n", strconv.Itoa(c.Pairs))
	case c.Paired:
		how = p.say("paired_results")
	}
	p.item("", how)
	if len(c.Differ) > 0 {
		p.line(p.paint(p.say("machines_differ"), yellow))
		for _, d := range c.Differ {
			p.item("  ", p.difference(d))
		}
		p.item("", p.say("tolls_compared"))
	}
	p.item("", p.say("change_is"))
	if len(c.Cells) == 0 {
		p.line(p.paint(p.say("nothing_in_both"), yellow))
	}
}

// side is one of the two results.
func (w words) side(c result.Compared) string {
	text := c.File
	if c.Started != "" {
		text += w.say("result_started", "started", c.Started)
	}
	if c.Version != "" {
		text += w.say("result_version", "version", c.Version)
	}
	return text
}

func (w words) difference(d result.Difference) string {
	return w.of(d.Name, cmp.Or(d.Old, w.say("unknown"))+" -> "+cmp.Or(d.New, w.say("unknown")))
}

// comparisonTable is what was compared on one path under one workload.
type comparisonTable struct {
	title       string
	old, recent string // what its two sides are
	rows        []comparedRow
	differ      []result.Difference
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
func tablesOf(w words, c result.Comparison) []*comparisonTable {
	var tables []*comparisonTable
	for _, cell := range c.Cells {
		load := cell.Workload
		if cell.Mode != "" {
			load += " (" + cell.Mode + ")"
		}
		title := w.of(cell.Path, load)
		for _, owner := range []result.Owner{result.OfLab, result.OfWorkload} {
			title = w.join(append([]string{title}, alongAxes(cell.Params, owner)...)...)
		}
		at := slices.IndexFunc(tables, func(t *comparisonTable) bool { return t.title == title })
		if at < 0 {
			at = len(tables)
			tables = append(tables, &comparisonTable{title: title})
		}
		t := tables[at]
		for _, d := range cell.Differ {
			t.differ = result.AddOnce(t.differ, d)
		}
		name := row{network: cell.Network, first: true, settings: settingsOf(cell.Params)}.name()
		for _, m := range cell.Metrics {
			if slices.Contains(comparedMetrics(), m.Name) {
				t.rows = append(t.rows, comparedRow{name, m})
			}
		}
	}
	return slices.DeleteFunc(tables, func(t *comparisonTable) bool { return len(t.rows) == 0 })
}

// alongAxes are the parameters of an owner, by name.
func alongAxes(params result.Params, owner result.Owner) []string {
	names := result.NamesOf(func(a result.Axis) bool { return a.Of == owner })
	slices.Sort(names)
	var texts []string
	for _, name := range names {
		axis, _ := result.AxisOf(name)
		if text := axisText(axis, params); text != "" {
			texts = append(texts, name+" "+text)
		}
	}
	return texts
}

// columns are those of a table.
func (t *comparisonTable) columns(w words, judged string) grid {
	names := column{unit: w.say("network")}
	metrics := column{unit: w.say("metric")}
	old, recent := column{unit: cmp.Or(t.old, w.say("old")), right: true}, column{unit: cmp.Or(t.recent, w.say("new")), right: true}
	change, ends := column{unit: w.say("change_percent"), right: true}, column{joined: true}
	again := column{unit: w.say("again_percent")}
	tolls := column{unit: w.say("tolls_then_now")}
	verdicts := column{unit: w.say("verdict")}
	before := ""
	for _, r := range t.rows {
		name := r.network
		if name == before {
			name = ""
		}
		before = r.network
		s := scaleFor(r.metric.Unit, r.metric.Old, r.metric.New)
		names.cells = append(names.cells, cell{text: name})
		metrics.cells = append(metrics.cells, cell{text: w.heading(r.metric.Name)})
		old.cells = append(old.cells, cell{text: s.show(r.metric.Old)})
		recent.cells = append(recent.cells, cell{text: s.withUnit(r.metric.New)})
		var number, interval cell
		verdict := cell{text: "-"}
		if c := r.metric.Judged(judged); c != nil {
			number.text, interval.text = scaleFor("ratio").difference(c.Value, c.Low, c.High)
			verdict = cell{text: clip(w.state(c.Verdict), 12), style: styleOf(c.Verdict)}
		}
		change.cells, ends.cells = append(change.cells, number), append(ends.cells, interval)
		again.cells = append(again.cells, cell{text: againText(r.metric)})
		tolls.cells = append(tolls.cells, cell{text: tollsText(r)})
		verdicts.cells = append(verdicts.cells, verdict)
	}
	rest := slices.DeleteFunc(grid{metrics, old, recent, change, ends, again, tolls, verdicts}, column.empty)
	return append(grid{names}, rest...)
}

// tollsText is the old toll and the new one; the host itself has none, and those of kernels
// are in the tables below.
func tollsText(r comparedRow) string {
	if r.network == catalog.Baseline || r.metric.Again != nil || r.metric.OldToll == nil || r.metric.NewToll == nil {
		return ""
	}
	show := func(toll *result.Toll) string {
		text, _ := scaleFor("ratio").difference(toll.Value, nil, nil)
		return text
	}
	return show(r.metric.OldToll) + " -> " + show(r.metric.NewToll)
}

// againText is the interval of what two machines with one kernel differ by.
func againText(m result.ComparedMetric) string {
	if m.Again == nil {
		return ""
	}
	_, ends := scaleFor("ratio").difference(m.Again.Value, m.Again.Low, m.Again.High)
	return ends
}

// single lists the cells that only one result has.
func (p *page) single(cells []result.SingleCell) {
	if len(cells) == 0 {
		return
	}
	p.title(p.say("in_one_only"))
	for _, s := range cells {
		text, lead := s.Cell, p.say("lead_new")
		if s.Reason != "" {
			text = p.of(text, p.say("other_result", "reason", s.Reason))
		}
		if s.In == "old" {
			lead = p.say("lead_old")
		}
		p.item("  "+lead, text)
	}
}
