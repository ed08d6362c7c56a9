package report

import (
	"math"
	"strings"

	"tare/result"
	"tare/stats"
)

// timeScale is the unit in which added times are read.
func (m matrix) timeScale() scale {
	var values []float64
	for p := range m.tolls() {
		if p.metric == p.field.added {
			values = append(values, p.metric.Toll.Delta.Value)
		}
	}
	return differenceScale("s", values...)
}

// matrix is the matrix as a grid: a column of two numbers for each path.
func (w words) matrix(m matrix) grid {
	s := m.timeScale()
	g := grid{column{unit: w.say("network")}}
	for _, r := range m.rows {
		label := r.label
		if r.standIn {
			label = clip(label, mostLabel) + "*"
		}
		g[0].cells = append(g[0].cells, cell{text: label})
	}
	for n, c := range m.columns {
		ratios, added := m.textsOf(n, s)
		left, right := widest(ratios), widest(added)
		col := column{above: headsOf(c), unit: twoOf(when(left > 0, "%"), when(right > 0, s.unit), left, right)}
		for i, r := range m.rows {
			col.cells = append(col.cells, cell{twoOf(ratios[i], added[i], left, right), heat(r.fields[n])})
		}
		g = append(g, col)
	}
	return g
}

// textsOf are the numbers of a column, row by row.
func (m matrix) textsOf(column int, s scale) (ratios, added []string) {
	for _, r := range m.rows {
		ratio, more := fieldTexts(r.fields[column], s)
		ratios, added = append(ratios, ratio), append(added, more)
	}
	return ratios, added
}

// unitsOfField names the units of a column's numbers.
func unitsOfField(ratios, added []string, s scale) string {
	return strings.TrimSpace(when(widest(ratios) > 0, "%") + " " + when(widest(added) > 0, s.unit))
}

// headsOf breaks a column's name into lines that are about as wide as its numbers.
func headsOf(c matrixColumn) []string {
	text := strings.TrimSpace(strings.ReplaceAll(result.Plain(c.path), "-", " ") + " " + clip(result.Plain(c.under), 40))
	longest := 9
	for _, word := range strings.Fields(text) {
		longest = max(longest, min(width(word), 20))
	}
	return wrap(text, longest, false)
}

// twoOf puts two numbers next to each other, flush right.
func twoOf(a, b string, left, right int) string {
	switch {
	case right == 0:
		return pad(a, left, true)
	case left == 0:
		return pad(b, right, true)
	}
	return strings.TrimRight(pad(a, left, true)+" "+pad(b, right, true), " ")
}

func widest(texts []string) int {
	most := 0
	for _, text := range texts {
		most = max(most, width(text))
	}
	return most
}

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// fieldTexts are the numbers of a field, or marks: see marks.
func fieldTexts(f matrixField, s scale) (ratio, added string) {
	if f.ratio != nil {
		ratio = markOr(f.ratio.Toll, 100*f.ratio.Toll.Value)
	}
	if f.added != nil {
		added = markOr(f.added.Toll, f.added.Toll.Delta.Value/s.size)
	}
	mark := func(text string, slot int, none bool) string {
		switch {
		case text == "" && f.failedAt(slot):
			return "!"
		case text == "" && none:
			return "·"
		}
		return text
	}
	return mark(ratio, 0, f.noRatio), mark(added, 1, f.noAdded)
}

// markOr is the number of a toll that has a verdict, or the mark of what it is.
func markOr(t *result.Toll, value float64) string {
	switch {
	case t.Verdict == string(stats.Equal):
		return "="
	case !differs(t):
		return "·"
	}
	return brief(value)
}

// brief writes a difference with its sign and one decimal, none from ten on.
func brief(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	decimals := 1
	switch size := math.Abs(v); {
	case size >= 99999.5:
		decimals = -1
	case size >= 9.95:
		decimals = 0
	}
	text := fixed(v, decimals)
	if v > 0 {
		text = "+" + text
	}
	return text
}

// heat colours a field by its largest toll.
func heat(f matrixField) style {
	switch most := largest(f); {
	case f.failed(), most >= 0.25:
		return red
	case most >= 0.05:
		return yellow
	}
	return plain
}

// largest is the largest toll of a field that has a verdict; 0: none costs anything.
func largest(f matrixField) float64 {
	most := 0.0
	for _, m := range []*result.Metric{f.ratio, f.added} {
		if m != nil && differs(m.Toll) {
			most = max(most, m.Toll.Value)
		}
	}
	return most
}
