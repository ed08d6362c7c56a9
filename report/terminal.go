// Package report renders a result for people, and writes it for other tools.
//
//   - terminal.go: the report that a terminal shows, section by section
//   - answer.go, matrix.go, answer_text.go, matrix_text.go: what every report says first, on one screen
//   - so_far.go: that matrix while the run goes on
//   - lead.go: what was asked, in words
//   - costliest.go, costliest_text.go: the sentences about a fault, and about what costs most and why
//   - heading.go, findings.go: what is before and after the tables
//   - group.go, row.go, absence.go: which cells share a table, and its rows
//   - table.go, verdict.go: the columns of a table and what is below it
//   - containers.go: what differs where containers are made
//   - ladder.go: what each network adds to its parent
//   - comparison.go, ranking.go: a result compared with an older one, networks in order
//   - trend.go, trend_change.go: how cells go on over several results, and when they changed
//   - growth.go: how a metric grows with a parameter
//   - along.go: cells of a result compared with each other: kernel with kernel, IPv6 with IPv4, networks with one of them
//   - case.go: published figures and claims compared with what was measured
//   - trace.go: hop by hop, what was lost and where the CPUs were
//   - mesh.go, mesh_history.go: who is slow, and over time
//   - imported.go: the table of what other tools measured
//   - html.go, view.go, web/: the page with charts, and what it is given to draw
//   - where.go: what the numbers are from
//   - markdown.go, csv.go: tables for a pull request, and for programs
//   - bars.go: how long the bars of tolls are, in Markdown and on the page
//   - export.go, gobench.go, iperf3_json.go, openmetrics.go, openmetrics_cells.go, junit.go: results in the formats of other tools
//   - grid.go, page.go, notes.go, text.go: lines, columns and marks
//   - units.go: numbers as people read them
//   - words.go, words/: the interface words of each language, here and on the page
package report

import (
	"fmt"
	"io"

	"tare/result"
	"tare/weigh"
)

// The widths that a report can have, in columns.
const (
	minWidth = 72
	maxWidth = 100
)

// Options are how a report is shown.
type Options struct {
	Width  int    // columns: 72 to 100; 0, or more, means 100
	Colour bool   // with SGR escapes
	Lang   string // one of Languages; any other means English
}

// Answer writes what a person wants to know first, on one screen: what was weighed,
// what each network costs, what costs most and why, and what is not known. A result
// without tolls has its tables instead: tables reports that. The only error is that
// of w.
func Answer(w io.Writer, res *result.Result, opts Options) (tables bool, err error) {
	p := newPage(opts)
	groups := groupsOf(res)
	a, ok := answerOf(res, groups)
	if !ok {
		return true, Terminal(w, res, opts)
	}
	p.brief(res, groups)
	if res.Kernels == nil {
		p.answer(a)
	}
	p.comparisons(res)
	p.pairs(res, groups)
	p.rankings(res)
	p.growths(res)
	p.reminders(res)
	return false, p.to(w, "answer")
}

// Terminal writes the report that a person reads in a terminal: a heading, the
// answer, for each path its tables and ladders, findings and warnings. Text from
// the result is printed without its control characters. The only error is that of
// w.
func Terminal(w io.Writer, res *result.Result, opts Options) error {
	p := newPage(opts)
	if res.Mesh != nil {
		p.mesh(res)
		return p.to(w, "report")
	}
	groups := groupsOf(res)
	p.top(res, groups)
	if res.Kernels != nil {
		p.comparisons(res) // they are what was asked for
	}
	if a, ok := answerOf(res, groups); ok {
		p.answer(a)
	} else {
		p.lead(a)
	}
	if res.Kernels == nil {
		p.comparisons(res)
	}
	p.pairs(res, groups)
	for _, s := range sectionsOf(groups) {
		p.section(res, s, groups)
	}
	p.rankings(res)
	p.growths(res)
	p.findings(res)
	p.warnings(res)
	p.published(res)
	return p.to(w, "report")
}

// Files prints, below a report, the names of the files that were written: a result
// and a rendered report, where these are not empty; below an answer also how to see the
// tables. The only error is that of w.
func Files(w io.Writer, res, page string, tables bool, opts Options) error {
	words := wordsOf(opts.Lang)
	text := "\n"
	if res != "" {
		text += words.say("lead_result") + res + "\n"
	}
	if !tables {
		text += words.say("lead_tables") + "tare report " + res + "\n"
	}
	if page != "" {
		text += words.say("lead_report") + page + "\n"
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// section prints the table of a section, or one table for each of its groups where
// that is too wide, and its ladder.
func (p *page) section(res *result.Result, s section, all []*weigh.Group) {
	tables := []section{s}
	if _, columns := newTable(p.words, s); len(s) > 1 && columns.width() > p.columns {
		tables = nil
		for _, g := range s {
			tables = append(tables, section{g})
		}
	}
	for _, one := range tables {
		p.title(one.describe(p.words, all))
		p.table(res, one)
	}
	p.ladder(s, all)
}

// table prints one table and the remarks below it.
func (p *page) table(res *result.Result, groups []*weigh.Group) {
	t, columns := newTable(p.words, groups)
	if len(t.rows) > 0 {
		p.print(columns)
	}
	p.legend(&t.notes)
	for _, a := range absences(p.words, rowsOf(t.groups), t.headlines) {
		p.item("  ", a.text(p.words, len(t.groups)))
	}
	for _, text := range t.foot(res) {
		p.item("  ", text)
	}
	for _, g := range t.parts() {
		p.line("")
		p.print(g)
	}
}
