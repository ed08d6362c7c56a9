package report

import (
	"slices"

	"tare/result"
	"tare/weigh"
)

// viewAnswer is the answer as the page shows it, its texts by language.
type viewAnswer struct {
	Titles    map[string]string   `json:"titles"`
	Marks     map[string]string   `json:"marks"`
	Leads     map[string][]string `json:"leads"`
	Sentences map[string][]string `json:"sentences"`
	Columns   []viewColumn        `json:"columns"`
	Rows      []viewPlace         `json:"rows"`
}

// viewColumn is a path, and the workload where columns differ in it.
type viewColumn struct {
	Path  string `json:"path"`
	Under string `json:"under,omitempty"`
	Unit  string `json:"unit"` // of the two numbers
}

// viewPlace is a network, with a field for each column.
type viewPlace struct {
	Label   string      `json:"label"`
	StandIn bool        `json:"stand_in,omitempty"`
	Fields  []viewField `json:"fields"`
}

// viewField is what a network costs on a path, as texts, and the toll of its dot.
type viewField struct {
	Ratio string       `json:"ratio"`
	Added string       `json:"added"`
	Toll  *result.Toll `json:"toll,omitempty"`
}

// answerView is the answer of a result; nil where it has no tolls.
func answerView(res *result.Result, groups []*weigh.Group) *viewAnswer {
	a, ok := answerOf(res, groups)
	if !ok {
		return nil
	}
	v := &viewAnswer{Titles: map[string]string{}, Marks: map[string]string{}, Leads: map[string][]string{}, Sentences: map[string][]string{}}
	for _, language := range Languages() {
		w := wordsOf(language)
		v.Marks[language], v.Leads[language], v.Sentences[language] = w.marks(a), w.leads(a), w.sentences(a)
	}
	a.keepFirst()
	for _, language := range Languages() {
		v.Titles[language] = wordsOf(language).answerTitle(a)
	}
	dotted := a.dotted()
	s := a.timeScale()
	for n, c := range a.columns {
		ratios, added := a.textsOf(n, s)
		v.Columns = append(v.Columns, viewColumn{c.path, c.under, unitsOfField(ratios, added, s)})
	}
	for _, r := range a.rows {
		row := viewPlace{Label: r.label, StandIn: r.standIn}
		for _, f := range r.fields {
			ratio, added := fieldTexts(f, s)
			field := viewField{Ratio: ratio, Added: added}
			for _, m := range []*result.Metric{f.added, f.ratio} {
				if m != nil && slices.Contains(dotted, m) {
					field.Toll = m.Toll
				}
			}
			row.Fields = append(row.Fields, field)
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// mostPictured is for how many columns a page has room.
const mostPictured = 18

// keepFirst leaves the columns of the first workloads, where there are too many for a page.
func (m *matrix) keepFirst() {
	if len(m.columns) <= mostPictured {
		return
	}
	for n := len(m.columns) - 1; n > 0; n-- {
		if m.columns[n].under != m.columns[0].under {
			m.columns = slices.Delete(m.columns, n, n+1)
			for i := range m.rows {
				m.rows[i].fields = slices.Delete(m.rows[i].fields, n, n+1)
			}
		}
	}
}

// dotted are the metrics that a picture shows, all of one kind: the ratios, or the times where no
// ratio has a toll.
func (m matrix) dotted() []*result.Metric {
	var ratios, times []*result.Metric
	for p := range m.tolls() {
		if p.metric == p.field.ratio {
			ratios = append(ratios, p.metric)
		} else {
			times = append(times, p.metric)
		}
	}
	if len(ratios) > 0 {
		return ratios
	}
	return times
}
