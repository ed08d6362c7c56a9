package report

import (
	"math"

	"tare/result"
	"tare/weigh"
)

// viewAnswer is the answer as the page shows it, its texts by language.
type viewAnswer struct {
	Titles    map[string]string   `json:"titles"`
	Marks     map[string]string   `json:"marks"`
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

// viewField is what a network costs on a path, as texts.
type viewField struct {
	Ratio string  `json:"ratio"`
	Added string  `json:"added"`
	Toll  float64 `json:"toll"` // the largest with a verdict, to shade it: a ratio, at most 1; 0: none
}

// answerView is the answer of a result; nil where it has no tolls.
func answerView(res *result.Result, groups []*weigh.Group) *viewAnswer {
	a, ok := answerOf(res, groups)
	if !ok {
		return nil
	}
	v := &viewAnswer{Titles: map[string]string{}, Marks: map[string]string{}, Sentences: map[string][]string{}}
	for _, language := range Languages() {
		w := wordsOf(language)
		v.Titles[language], v.Marks[language], v.Sentences[language] = w.answerTitle(a), w.marks(a), w.sentences(a)
	}
	s := a.timeScale()
	for n, c := range a.columns {
		ratios, added := a.textsOf(n, s)
		v.Columns = append(v.Columns, viewColumn{c.path, c.under, unitsOfField(ratios, added, s)})
	}
	for _, r := range a.rows {
		row := viewPlace{Label: r.label, StandIn: r.standIn}
		for _, f := range r.fields {
			ratio, added := fieldTexts(f, s)
			row.Fields = append(row.Fields, viewField{ratio, added, math.Min(1, largest(f))})
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}
