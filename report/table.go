package report

import (
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// table is one section in columns.
type table struct {
	words
	groups    []*weigh.Group
	headlines []string // the metric that each group is judged by
	rows      []row    // those that hold a number
	notes     notes
	alone     bool // of the metrics only the headlines are shown
}

// headline is the metric that a group is judged by: its workload's, else the
// first of the usual ones that was measured.
func headline(g *weigh.Group) string {
	kind, _ := catalog.FindWorkload(g.Workload)
	order := []string{kind.Headline, "throughput", "rate", "rtt_p50", "latency_p50", "rtt_mean", "latency_mean", "latency_one_way"}
	for _, name := range order {
		if has(g, name) {
			return name
		}
	}
	for _, c := range g.Cells {
		if c.Status == result.StatusOK && len(c.Metrics) > 0 {
			return c.Metrics[0].Name
		}
	}
	return slices.DeleteFunc(order, func(name string) bool { return name == "" })[0]
}

// has reports whether a metric was measured in any cell.
func has(g *weigh.Group, metric string) bool {
	return slices.ContainsFunc(g.Cells, func(c *result.Cell) bool {
		return c.Status == result.StatusOK && weigh.Metric(c, metric) != nil
	})
}

// otherMetrics are the metrics that are shown next to a group's headline, in their
// order.
func otherMetrics(g *weigh.Group, headline string) []string {
	all := []string{
		"rtt_p50", "rtt_p99", "latency_p50", "latency_p99", "latency_remove", "loss", "jitter", "sender_drops",
		"cpu_per_gbit", "cpu_per_transaction",
	}
	if kind, _ := catalog.FindWorkload(g.Workload); kind.Columns != nil {
		all = slices.Clone(kind.Columns)
	}
	return slices.DeleteFunc(all, func(name string) bool { return name == headline })
}

// heading is what a metric is called above its column.
func (w words) heading(metric string) string {
	switch metric {
	case "throughput", "rate", "rtt_p50", "rtt_mean", "latency_p50", "latency_mean":
		return w.say(metric)
	case "rtt_p99", "latency_p99":
		return "p99"
	case "latency_network":
		return w.say("network_share")
	case "latency_remove":
		return w.say("removal")
	case "sender_drops":
		return w.say("drops")
	case "cpu_per_gbit", "cpu_per_transaction":
		return "CPU"
	}
	return clip(result.Plain(metric), 16)
}

// newTable makes the table of some groups and its grid.
func newTable(w words, groups []*weigh.Group) (*table, grid) {
	t := &table{words: w, groups: groups}
	for _, g := range groups {
		t.headlines = append(t.headlines, headline(g))
	}
	for _, r := range rowsOf(groups) {
		if r.measured(t.headlines) {
			t.rows = append(t.rows, r)
		}
	}
	names := t.names()
	var columns []column
	if len(groups) == 2 {
		columns = slices.Concat(
			t.value(0, t.headlines[0]), t.packet(), t.toll(0), t.value(1, t.headlines[1]), t.delta(1),
			t.value(0, "cpu_per_gbit"), t.ceiling())
	} else {
		columns = append(t.value(0, t.headlines[0]), t.packet()...)
		if t.unit(0, t.headlines[0]) == "s" {
			columns = append(columns, t.delta(0)...)
		}
		if kind, _ := catalog.FindWorkload(groups[0].Workload); !kind.Unlike {
			columns = append(columns, t.toll(0)...)
		}
		for _, metric := range otherMetrics(groups[0], t.headlines[0]) {
			if !t.containers() || metric != "latency_p99" || len(t.withoutBaseline(0, metric)) > 0 {
				columns = append(columns, t.value(0, metric)...)
			}
		}
		columns = append(columns, t.operations()...)
		columns = append(columns, t.ceiling()...)
	}
	return t, slices.Concat(grid{names}, columns, grid{t.verdicts()})
}

// shown are the metrics of each group that have a column.
func (t *table) shown() [][]string {
	switch {
	case t.alone:
		return [][]string{{t.headlines[0]}}
	case len(t.groups) == 2:
		return [][]string{{t.headlines[0], "cpu_per_gbit"}, {t.headlines[1]}}
	}
	return [][]string{append(otherMetrics(t.groups[0], t.headlines[0]), t.headlines[0])}
}

func (t *table) names() column {
	c := column{unit: t.say("network"), cells: make([]cell, len(t.rows))}
	texts := make([][]string, len(t.rows))
	for i, r := range t.rows {
		c.cells[i].text = r.name()
		texts[i] = append(t.rowNotes(i), r.nameNotes(t.words, t.shown())...)
	}
	t.notes.annotate(&c, texts)
	return c
}

// rowNotes are the texts that are at every number of a row and not of all
// rows: they are marked once, at the row's name.
func (t *table) rowNotes(i int) []string {
	shown := t.shown()
	var lists [][]string
	for _, r := range t.rows {
		lists = append(lists, r.everywhere(shown))
	}
	all := inAll(lists)
	return slices.DeleteFunc(slices.Clone(lists[i]), func(text string) bool { return slices.Contains(all, text) })
}

// unit is the unit in which a metric is stored.
func (t *table) unit(slot int, metric string) string {
	for _, r := range t.rows {
		if m := r.metric(slot, metric); m != nil {
			return m.Unit
		}
	}
	return ""
}

// scale is the unit in which a metric's column is read.
func (t *table) scale(slot int, metric string) scale {
	var values []float64
	for _, r := range t.rows {
		if m := r.metric(slot, metric); m != nil {
			values = append(values, m.Value)
		}
	}
	if own := t.withoutBaseline(slot, metric); len(own) > 0 {
		return scaleFor(t.unit(slot, metric), slices.Min(own))
	}
	return scaleFor(t.unit(slot, metric), values...)
}

// value is the column of a metric, none where no row has it.
func (t *table) value(slot int, metric string) []column {
	s := t.scale(slot, metric)
	c := column{head: t.heading(metric), unit: s.unit, right: true, cells: make([]cell, len(t.rows))}
	switch {
	case metric == "latency_p50" && t.containers() && metric != t.headlines[slot]:
		c.head = "p50"
	case metric == "cpu_per_gbit":
		c.unit += "/Gbit"
	case metric == "cpu_per_transaction":
		c.unit += t.say("per_transaction")
	}
	texts := make([][]string, len(t.rows))
	found := false
	for i, r := range t.rows {
		m := r.metric(slot, metric)
		if m == nil {
			c.cells[i] = t.missing(r.cells[slot], metric == t.headlines[slot])
			continue
		}
		found = true
		c.cells[i].text = s.show(m.Value)
		texts[i] = t.remarks(i, m)
	}
	if !found {
		return nil
	}
	t.notes.annotate(&c, texts)
	return []column{c}
}

// remarks are the warnings of a number that are not marked on its row.
func (t *table) remarks(i int, m *result.Metric) []string {
	texts, ofRow := []string{}, t.rowNotes(i)
	for _, text := range m.Warnings {
		if text = result.Plain(text); !slices.Contains(ofRow, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// headlineAlone is the column of a headline where nothing else is shown, empty where a row
// lacks it.
func (t *table) headlineAlone() column {
	s := t.scale(0, t.headlines[0])
	c := column{head: t.heading(t.headlines[0]), unit: s.unit, cells: make([]cell, len(t.rows))}
	texts := make([][]string, len(t.rows))
	for i, r := range t.rows {
		if m := r.metric(0, t.headlines[0]); m != nil {
			c.cells[i].text, texts[i] = s.show(m.Value), t.remarks(i, m)
		}
	}
	t.notes.annotate(&c, texts)
	return c
}

// missing is shown where a row lacks a number; for a headline with the reason.
func (t *table) missing(c *result.Cell, headline bool) cell {
	if c == nil || !headline {
		return cell{text: "-"}
	}
	word := "-"
	if c.Status != result.StatusOK {
		word = clip(t.state(c.Status), 8)
	}
	return cell{text: word + t.notes.mark([]string{c.Workload + " " + t.reasonOf(c)}), style: yellow}
}

// toll is the toll of a headline in percent, with its interval.
func (t *table) toll(slot int) []column {
	s := scaleFor("ratio")
	return t.interval(slot, t.say("toll_percent"), func(toll *result.Toll) (string, string) {
		return s.difference(toll.Value, toll.Low, toll.High)
	})
}

// delta is what a network adds to a headline, in its own unit.
func (t *table) delta(slot int) []column {
	var ends []float64
	for _, r := range t.rows {
		if m := r.metric(slot, t.headlines[slot]); m != nil && m.Toll != nil {
			ends = append(ends, m.Toll.Delta.Value)
		}
	}
	s := differenceScale(t.unit(slot, t.headlines[slot]), ends...)
	if t.containers() {
		s = t.scale(slot, t.headlines[slot])
	}
	return t.interval(slot, t.say("added_unit", "unit", s.unit), func(toll *result.Toll) (string, string) {
		return s.difference(toll.Delta.Value, toll.Delta.Low, toll.Delta.High)
	})
}

// interval is a column of numbers and the one of their intervals.
func (t *table) interval(slot int, unit string, write func(*result.Toll) (number, ends string)) []column {
	value := column{unit: unit, right: true, cells: make([]cell, len(t.rows))}
	ends := column{joined: true, cells: make([]cell, len(t.rows))}
	for i, r := range t.rows {
		m := r.metric(slot, t.headlines[slot])
		switch {
		case m == nil || m.Toll == nil && r.network == catalog.Baseline:
		case m.Toll == nil:
			value.cells[i].text = "-"
		default:
			value.cells[i].text, ends.cells[i].text = write(m.Toll)
		}
	}
	return filled(value, ends)
}

// packet is the mean size of the packets that carried a throughput: what a
// device calls a packet may be 40 of the wire's, and decides what it costs.
func (t *table) packet() []column {
	if t.headlines[0] != "throughput" {
		return nil
	}
	sizes := make([]float64, len(t.rows))
	for i, r := range t.rows {
		if r.metric(0, t.headlines[0]) != nil {
			sizes[i] = medianCounter(r.cells[0], "skb_bytes")
		}
	}
	s := scaleFor("bytes", sizes...)
	c := column{head: t.say("packet"), unit: s.unit, right: true, cells: make([]cell, len(t.rows))}
	for i, size := range sizes {
		if size > 0 {
			c.cells[i].text = s.show(size)
		}
	}
	return filled(c)
}

// medianCounter is the median of a counter over a cell's samples, 0 where none
// has it.
func medianCounter(c *result.Cell, name string) float64 {
	var values []float64
	for _, s := range c.Samples {
		if v, ok := s.Counters[name]; ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0
	}
	return median(values)
}

// ceiling is the share of the ceiling that the first headline reached, none
// where there is no ceiling.
func (t *table) ceiling() []column {
	s := scaleFor("ratio")
	c := column{head: t.say("of_ceiling"), unit: s.unit, right: true, cells: make([]cell, len(t.rows))}
	for i, r := range t.rows {
		if m := r.metric(0, t.headlines[0]); m != nil && m.Ceiling != nil {
			c.cells[i].text = strings.TrimSuffix(percent(m.Ceiling.Ratio), " %")
		}
	}
	return filled(c)
}
