package report

import (
	"fmt"
	"strings"

	"tare/catalog"
	"tare/result"
)

// versus is a comparison of cells of one result, as it is shown.
type versus struct {
	*result.Comparison
	title, about string
}

// versus are the comparisons of cells of one result: IPv6 with IPv4, and networks that have a
// passenger with themselves without it.
func (w words) versus(res *result.Result) (all []versus) {
	if res.Versions != nil {
		all = append(all, versus{res.Versions, w.say("versions_title"), w.say("versions_are")})
	}
	if res.Passengers != nil {
		command := paramOf(res, catalog.With)
		all = append(all, versus{res.Passengers, w.say("passenger_title", "command", command), w.say("passenger_is")})
	}
	if res.Neighbours != nil {
		load := paramOf(res, catalog.Neighbour)
		all = append(all, versus{res.Neighbours, w.say("neighbour_title", "load", load), w.say("neighbour_is")})
	}
	return all
}

// paramOf is a parameter of those of the plan's networks that have it.
func paramOf(res *result.Result, name string) (value string) {
	for _, n := range res.Plan.Networks {
		if text := n.Params.Map()[name]; text != "" {
			value = clip(result.Plain(text), 60)
		}
	}
	return value
}

// tables are the comparison's, headed by what its sides are.
func (c versus) tables(w words) []*comparisonTable {
	tables := tablesOf(w, *c.Comparison)
	for _, t := range tables {
		t.old, t.recent = c.Old.File, c.New.File
	}
	return tables
}

// versus prints them.
func (p *page) versus(res *result.Result) {
	for _, c := range p.words.versus(res) {
		p.title(c.title)
		p.item("", c.about)
		for _, t := range c.tables(p.words) {
			p.line("")
			p.item("", t.title)
			p.print(t.columns(p.words, c.Judged))
		}
	}
}

// markdownVersus is the same as Markdown.
func markdownVersus(b *strings.Builder, w words, res *result.Result) {
	for _, c := range w.versus(res) {
		fmt.Fprintf(b, "\n### %s\n\n%s\n", markdownText(c.title), markdownText(c.about))
		for _, t := range c.tables(w) {
			fmt.Fprintf(b, "\n%s\n\n", markdownText(t.title))
			t.columns(w, c.Judged).markdown(b)
		}
	}
}

// viewVersus is what the page draws of one of them.
type viewVersus struct {
	Titles map[string]string `json:"titles"` // by language
	About  map[string]string `json:"about"`
	viewCompared
}

// versusView is what the page draws of them.
func versusView(res *result.Result) []viewVersus {
	all := []viewVersus{}
	for n, c := range wordsOf(English).versus(res) {
		all = append(all, viewVersus{
			Titles:       byLanguage(func(w words) string { return w.versus(res)[n].title }),
			About:        byLanguage(func(w words) string { return w.versus(res)[n].about }),
			viewCompared: comparedView(*c.Comparison),
		})
	}
	return all
}
