package report

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// matrix is what each network costs on each path: the whole result at a glance.
type matrix struct {
	columns []matrixColumn
	rows    []matrixRow
}

// matrixColumn is a path, or, where a path has tables of several workloads, one of
// them.
type matrixColumn struct {
	path, under string
	groups      []*weigh.Group // those of its first section: see sectionsOf
}

// matrixRow is a network under one setting of the lab.
type matrixRow struct {
	network, label string
	standIn        bool
	modelled       bool          // by an interface or a link of the lab's, while others have the machine's
	fields         []matrixField // one for each column
}

// matrixField is a network on a path: what is shown as a ratio, and what as a time.
type matrixField struct {
	ratio, added *result.Metric // nil: not measured, or without a toll
	cells        []*result.Cell // by the column's groups; nil: there is none

	noRatio, noAdded bool // a cell that was measured has none
}

// matrixOf takes the tolls of what a plan asks for. Its columns and rows are in the order of
// the tables.
func matrixOf(plan result.Plan, groups []*weigh.Group) matrix {
	var m matrix
	groups = askedOf(plan, groups)
	sections := slices.DeleteFunc(sectionsOf(groups), func(s section) bool {
		kind, _ := catalog.FindWorkload(s[0].Workload)
		return kind.Unlike || !hasTolls(s)
	})
	several := slices.ContainsFunc(sections, func(s section) bool { return under(s, groups) != under(sections[0], groups) })
	for _, s := range sections {
		text := ""
		if several {
			text = under(s, groups)
		}
		at := slices.IndexFunc(m.columns, func(c matrixColumn) bool { return c.path == s[0].Path && c.under == text })
		if at < 0 {
			at = len(m.columns)
			m.columns = append(m.columns, matrixColumn{s[0].Path, text, s})
		}
		m.add(at, s, otherThan(groups[0], s[0]))
	}
	m.rows = slices.DeleteFunc(m.rows, func(r matrixRow) bool {
		return !slices.ContainsFunc(r.fields, func(f matrixField) bool { return len(f.measured()) > 0 || f.failed() })
	})
	for i := range m.rows {
		m.rows[i].fields = append(m.rows[i].fields, make([]matrixField, len(m.columns)-len(m.rows[i].fields))...)
	}
	m.settleModels()
	slices.SortStableFunc(m.rows, func(a, b matrixRow) int {
		return cmp.Compare(catalog.Order(a.network), catalog.Order(b.network))
	})
	return m
}

// hasTolls reports whether a network other than the baseline has a toll.
func hasTolls(s section) bool {
	for _, r := range rowsOf(s) {
		for slot, g := range s {
			if r.network != catalog.Baseline && r.toll(slot, headline(g)) != nil {
				return true
			}
		}
	}
	return false
}

// under names the workloads of a section.
func under(s section, groups []*weigh.Group) string {
	var names []string
	for _, g := range s {
		names = append(names, describe(g, groups))
	}
	return strings.Join(names, " ")
}

// otherThan is what differs in a group's lab from the first one's, as "nic tso".
func otherThan(first, g *weigh.Group) string {
	var texts []string
	for _, axis := range result.Axes() {
		if text := axisText(axis, g.Params); axis.Of == result.OfLab && text != "" && text != axisText(axis, first.Params) {
			texts = append(texts, axis.Name+" "+text)
		}
	}
	return strings.Join(texts, ", ")
}

// mostRow is what a row's label may take of the matrix: a setting of the lab may
// follow the network's name.
const mostRow = mostLabel + 8

// add puts a section into a column.
func (m *matrix) add(column int, s section, setting string) {
	for _, r := range rowsOf(s) {
		if r.network == catalog.Baseline {
			continue
		}
		label := r.name()
		if setting != "" {
			label += ", " + result.Plain(setting)
		}
		label = clip(label, mostRow)
		at := slices.IndexFunc(m.rows, func(row matrixRow) bool {
			return row.network == r.network && row.label == label && (len(row.fields) <= column || row.fields[column].cells == nil)
		})
		if at < 0 {
			at = len(m.rows)
			m.rows = append(m.rows, matrixRow{network: r.network, label: label})
		}
		row := &m.rows[at]
		row.fields = append(row.fields, make([]matrixField, max(0, column+1-len(row.fields)))...)
		row.fields[column] = fieldOf(r, s)
		for _, c := range r.cells {
			row.standIn = row.standIn || c != nil && c.Fidelity == catalog.StandIn
			row.modelled = row.modelled || c != nil && modelled(c)
		}
	}
}

// fieldOf is a network's field: the first headline as a ratio, and a time, of the
// first or the second, as a difference.
func fieldOf(r row, s section) matrixField {
	f := matrixField{cells: r.cells}
	for slot, g := range s {
		m, c := r.metric(slot, headline(g)), r.cells[slot]
		quantity, _ := result.QuantityOf(headline(g))
		first, time := slot == 0, quantity.Unit == "s"
		if m == nil || m.Toll == nil {
			lacks := c != nil && c.Status == result.StatusOK
			f.noRatio, f.noAdded = f.noRatio || lacks && first, f.noAdded || lacks && time
			continue
		}
		if first {
			f.ratio = m
		}
		if time {
			f.added = m
		}
	}
	return f
}

// place is one toll of a matrix and where it is.
type place struct {
	row    *matrixRow
	column *matrixColumn
	field  *matrixField
	metric *result.Metric
}

// tolls gives each toll of the matrix once.
func (m matrix) tolls() iter.Seq[place] {
	return func(yield func(place) bool) {
		for r := range m.rows {
			for c := range m.rows[r].fields {
				f := &m.rows[r].fields[c]
				at := place{row: &m.rows[r], column: &m.columns[c], field: f}
				for _, metric := range []*result.Metric{f.ratio, f.added} {
					if metric == nil || at.metric == metric {
						continue
					}
					at.metric = metric
					if !yield(at) {
						return
					}
				}
			}
		}
	}
}

// measured are the field's cells that were measured, with whatever numbers.
func (f matrixField) measured() []*result.Cell {
	return slices.DeleteFunc(slices.Clone(f.cells), func(c *result.Cell) bool { return c == nil || c.Status != result.StatusOK })
}

// failed reports whether a cell of the field failed.
func (f matrixField) failed() bool { return f.failedAt(0) || f.failedAt(1) }

func (f matrixField) failedAt(slot int) bool {
	return slot < len(f.cells) && f.cells[slot] != nil && f.cells[slot].Status == result.StatusFailed
}

// differs reports whether a toll has the verdict slower or faster.
func differs(t *result.Toll) bool {
	return t.Verdict == string(stats.Slower) || t.Verdict == string(stats.Faster)
}
