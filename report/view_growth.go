package report

import (
	"slices"
	"strings"

	"tare/result"
)

// viewGrowth is what was swept of one parameter: sentences, and charts of what was measured.
type viewGrowth struct {
	Axis   string              `json:"axis"`
	Unit   string              `json:"unit"`   // of a rate; empty: a number of things
	Titles map[string]string   `json:"titles"` // by language
	Texts  map[string][]string `json:"texts"`
	Charts []viewGrowthChart   `json:"charts"`
}

// viewGrowthChart is one metric on one path under one workload, of each network.
type viewGrowthChart struct {
	Titles map[string]string `json:"titles"`
	Unit   string            `json:"unit"`
	Series []viewGrown       `json:"series"`
}

// viewGrown is one network.
type viewGrown struct {
	Name   string               `json:"name"`
	Points []result.GrowthPoint `json:"points"`
}

// growthView takes from a result what grows, by parameter.
func growthView(res *result.Result) []viewGrowth {
	all := []viewGrowth{}
	for _, g := range res.Growths {
		at := slices.IndexFunc(all, func(v viewGrowth) bool { return v.Axis == g.Axis })
		if at < 0 {
			at = len(all)
			all = append(all, viewGrowth{
				Axis: g.Axis, Unit: rateUnit(g.Axis), Titles: byLanguage(func(w words) string { return w.say("grows", "axis", g.Axis) }), Texts: map[string][]string{},
			})
		}
		all[at].add(g)
	}
	return all
}

// rateUnit is the unit of an axis that is a rate; empty: it is none.
func rateUnit(axis string) string {
	if a, known := result.AxisOf(axis); known && a.Unit == "bit/s" {
		return a.Unit
	}
	return ""
}

// add adds one network on one path under one workload.
func (v *viewGrowth) add(g result.Growth) {
	for language, text := range byLanguage(func(w words) string { return w.growth(g) }) {
		v.Texts[language] = append(v.Texts[language], text)
	}
	titles := byLanguage(func(w words) string { return w.of(g.Path+" "+g.Workload, w.heading(g.Metric)) })
	n := slices.IndexFunc(v.Charts, func(c viewGrowthChart) bool { return c.Titles[English] == titles[English] })
	if n < 0 {
		n = len(v.Charts)
		v.Charts = append(v.Charts, viewGrowthChart{Titles: titles, Unit: g.Unit})
	}
	name := strings.TrimSpace(g.Network + " " + g.Settings.String())
	v.Charts[n].Series = append(v.Charts[n].Series, viewGrown{name, g.Points})
}
