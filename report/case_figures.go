package report

import (
	"slices"

	"tare/catalog"
	"tare/result"
)

// widestText is where a name or a setting is cut, in columns: two of them are in
// the narrowest report.
const widestText = 33

// figureTable holds the figures of one experiment in one metric.
type figureTable struct {
	title   string
	figures []result.Figure
}

// figureTables sorts figures into tables, in the order of their publication.
func figureTables(figures []result.Figure) []figureTable {
	var tables []figureTable
	for _, f := range figures {
		title := result.Plain(f.Experiment + ": " + f.Workload + ", " + f.Metric)
		at := slices.IndexFunc(tables, func(t figureTable) bool { return t.title == title })
		if at < 0 {
			at = len(tables)
			tables = append(tables, figureTable{title: title})
		}
		tables[at].figures = append(tables[at].figures, f)
	}
	return tables
}

// figureColumn is a column of a table of figures: its heading, and which value of a
// figure it shows.
type figureColumn struct {
	head, unit    string
	right, joined bool
	wide          bool // not in a terminal, which has no room for it
	text          func(f result.Figure) string
}

// allColumns lists the columns of a table.
func (t figureTable) allColumns(w words) []figureColumn {
	var values []float64
	for _, f := range t.figures {
		for _, v := range []*float64{f.Published, f.Measured} {
			if v != nil {
				values = append(values, *v)
			}
		}
	}
	s := scaleFor(t.figures[0].Unit, values...)
	value := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return s.show(*v)
	}
	return []figureColumn{
		{unit: w.say("network"), text: figureName},
		{unit: w.say("setting"), text: func(f result.Figure) string { return f.Setting }},
		{head: w.say("as_published"), unit: s.unit, right: true, text: func(f result.Figure) string { return value(f.Published) }},
		{unit: w.say("toll_percent"), right: true, text: func(f result.Figure) string { return ratioText(f.PublishedToll) }},
		{unit: w.say("ceiling_share"), right: true, text: func(f result.Figure) string {
			if f.Ceiling == nil {
				return ""
			}
			return ratioOf(&f.Ceiling.Published)
		}},
		{unit: w.say("framing_percent"), right: true, wide: true, text: func(f result.Figure) string {
			if f.Ceiling == nil || f.Ceiling.Framing == 0 {
				return ""
			}
			return ratioOf(&f.Ceiling.Framing)
		}},
		{head: w.say("here"), unit: s.unit, right: true, text: func(f result.Figure) string { return value(f.Measured) }},
		{unit: w.say("toll_percent"), right: true, text: func(f result.Figure) string { number, _ := changeText(f.Toll); return number }},
		{joined: true, text: func(f result.Figure) string { _, ends := changeText(f.Toll); return ends }},
		{unit: w.say("ceiling_share"), right: true, text: func(f result.Figure) string {
			if f.Ceiling == nil {
				return ""
			}
			return ratioOf(f.Ceiling.Measured)
		}},
	}
}

// columns arrange a table for a terminal; empty columns are left out.
func (t figureTable) columns(w words) grid {
	var g grid
	for _, c := range t.allColumns(w) {
		if c.wide {
			continue
		}
		col := column{head: c.head, unit: c.unit, right: c.right, joined: c.joined}
		for _, f := range t.figures {
			col.cells = append(col.cells, cell{text: clip(result.Plain(c.text(f)), widestText)})
		}
		if len(g) == 0 || !col.empty() || c.head != "" {
			g = append(g, col)
		}
	}
	return g
}

// changeText is a change in percent with its interval; "" where there is none.
func changeText(c *result.Change) (number, ends string) {
	if c == nil {
		return "", ""
	}
	return scaleFor("ratio").difference(c.Value, c.Low, c.High)
}

// ratioText is a ratio in percent with its sign; "" where there is none.
func ratioText(v *float64) string {
	if v == nil {
		return ""
	}
	text, _ := scaleFor("ratio").difference(*v, nil, nil)
	return text
}

// ratioOf is a share in percent; "" where there is none.
func ratioOf(v *float64) string {
	if v == nil {
		return ""
	}
	return fixed(100**v, 1)
}

// figureName is the published network, the one here where that has another name,
// and a mark on a stand-in.
func figureName(f result.Figure) string {
	name := f.Network
	if f.As != f.Network {
		name += " -> " + f.As
	}
	if f.Fidelity == catalog.StandIn {
		name += " *"
	}
	return name
}
