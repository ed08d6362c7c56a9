package report

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// Trend writes how cells go on over several results: a line for each, then when they changed and
// what else is otherwise since. The only error is that of w.
func Trend(w io.Writer, t result.Trend, opts Options) error {
	p := newPage(opts)
	p.trendTop(t)
	for _, table := range trendTables(p.words, t) {
		p.title(table.title)
		p.print(table.columns(p.words, t, p.columns))
	}
	p.item("  ", p.say("trend_line_is"))
	p.changes(t)
	p.grown(t)
	p.single(t.Compared.Single)
	p.gates(t.Compared)
	return p.to(w, "trend")
}

// mostRemarks is how many remarks on results are listed: the newest.
const mostRemarks = 8

// trendTop prints what is compared, and what is unlike.
func (p *page) trendTop(t result.Trend) {
	first, newest := t.Results[0], t.Results[len(t.Results)-1]
	head := p.say("trend_head", "results", p.count("result", len(t.Results)), "from", second(first.Started), "to", second(newest.Started))
	for _, line := range p.wrap(head, p.columns) {
		p.line(p.paint(line, bold))
	}
	p.item(p.say("lead_old"), p.side(first.Compared))
	p.item(p.say("lead_new"), p.side(newest.Compared))
	var remarks []string
	for _, r := range t.Results {
		for _, d := range r.Differ {
			remarks = append(remarks, p.of(p.resultName(r), p.difference(d)))
		}
		for _, note := range r.Notes {
			remarks = append(remarks, p.of(p.resultName(r), note))
		}
	}
	if more := len(remarks) - mostRemarks; more > 0 {
		remarks = append([]string{p.say("trend_more", "n", strconv.Itoa(more))}, remarks[more:]...)
	}
	for _, text := range remarks {
		p.item("- ", text)
	}
	for _, left := range t.Left[:min(len(t.Left), mostRemarks)] {
		p.item("- ", p.of(p.say("trend_left", "file", left.File), left.Reason))
	}
	if more := len(t.Left) - mostRemarks; more > 0 {
		p.item("- ", p.say("trend_left_more", "n", strconv.Itoa(more)))
	}
	if t.Judged == result.JudgedByToll {
		p.item("", p.say("tolls_compared"))
	}
}

// resultName names a result by its round and its time.
func (w words) resultName(r result.TrendResult) string {
	if r.Round > 0 {
		return w.say("trend_round", "n", strconv.Itoa(r.Round), "time", second(r.Started))
	}
	return second(r.Started)
}

// second is a time of a result for people, to the second: rounds may follow each other that closely.
func second(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "-"
	}
	return at.UTC().Format(time.DateTime)
}

// trendTable are the cells of one path under one workload.
type trendTable struct {
	title string
	rows  []result.TrendCell
}

func trendTables(w words, t result.Trend) (tables []*trendTable) {
	for _, c := range t.Cells {
		load := c.Workload
		if c.Mode != "" {
			load += " (" + c.Mode + ")"
		}
		title := w.join(w.of(c.Path, load), w.heading(c.Metric))
		for _, owner := range []result.Owner{result.OfLab, result.OfWorkload} {
			title = w.join(append([]string{title}, alongAxes(c.Params, owner)...)...)
		}
		at := slices.IndexFunc(tables, func(t *trendTable) bool { return t.title == title })
		if at < 0 {
			at = len(tables)
			tables = append(tables, &trendTable{title: title})
		}
		tables[at].rows = append(tables[at].rows, c)
	}
	return tables
}

// The columns of the line, in a wide terminal and in a narrow one.
const (
	wideLine   = 24
	narrowLine = 12
)

// columns are those of a table. What a network has is its toll; the host has its value.
func (tt *trendTable) columns(w words, t result.Trend, wide int) grid {
	line := narrowLine
	if wide >= maxWidth {
		line = wideLine
	}
	g := grid{
		{unit: w.say("network")}, {unit: w.say("trend_course")}, {unit: w.say("trend_first"), right: true}, {unit: w.say("trend_newest"), right: true},
		{unit: w.say("change_percent"), right: true}, {unit: w.say("verdict")},
	}
	for _, c := range tt.rows {
		name := row{network: c.Network, first: true, settings: settingsOf(c.Params)}.name()
		first, newest, course := w.ends(c)
		change, verdict := "-", cell{text: "-"}
		if c.Change != nil {
			change = about(c.Change.Value, c.Change.Low, c.Change.High)
			verdict = cell{text: clip(w.state(c.Change.Verdict), 12), style: styleOf(c.Change.Verdict)}
		}
		g.add(name, sparkline(course, line), first, newest, change)
		g[5].cells = append(g[5].cells, verdict)
	}
	return g
}

// ends are the first and the newest figure of a cell, and what its line shows: of a network the tolls,
// of the host the logarithms of its values.
func (w words) ends(c result.TrendCell) (first, newest string, course []float64) {
	first, newest = "-", "-"
	last := len(c.Values) - 1
	if c.Network != catalog.Baseline && slices.ContainsFunc(c.Tolls, func(t *result.TrendToll) bool { return t != nil }) {
		for _, toll := range c.Tolls {
			if toll == nil {
				course = append(course, math.NaN())
				continue
			}
			course = append(course, toll.Value)
		}
		for at, to := range map[int]*string{0: &first, last: &newest} {
			if toll := c.Tolls[at]; toll != nil {
				*to = about(toll.Value, toll.Low, toll.High) + " %"
			}
		}
		return first, newest, course
	}
	var values []float64
	for _, v := range c.Values {
		if v == nil {
			course = append(course, math.NaN())
			continue
		}
		values, course = append(values, *v), append(course, math.Log(*v))
	}
	s := scaleFor(c.Unit, values...)
	for at, to := range map[int]*string{0: &first, last: &newest} {
		if v := c.Values[at]; v != nil {
			*to = s.withUnit(*v)
		}
	}
	return first, newest, course
}

// about is a ratio in percent with how far the ends of its interval are at most: "+20.0 ±0.4".
func about(value float64, low, high *float64) string {
	text, _ := scaleFor("ratio").difference(value, nil, nil)
	if low == nil || high == nil {
		return text
	}
	return text + " ±" + fixed(100*math.Max(value-*low, *high-value), 1)
}

// leastSpan is what a line spans at least: what is less than a margin on each side is flat.
const leastSpan = 2 * stats.DeclaredMargin

// sparkline draws a course in so many columns at most, each of which is the median of some results.
// Where nothing was measured it has a blank.
func sparkline(course []float64, columns int) string {
	marks := []rune("▁▂▃▄▅▆▇█")
	columns = min(columns, len(course))
	var values []float64
	for n := range columns {
		part := slices.DeleteFunc(slices.Clone(course[n*len(course)/columns:(n+1)*len(course)/columns]), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
		values = append(values, stats.Median(part))
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	if room := leastSpan - (high - low); room > 0 {
		low, high = low-room/2, high+room/2
	}
	var text strings.Builder
	for _, v := range values {
		if math.IsNaN(v) {
			text.WriteRune(' ')
			continue
		}
		text.WriteRune(marks[min(int((v-low)/(high-low)*float64(len(marks))), len(marks)-1)])
	}
	return text.String()
}
