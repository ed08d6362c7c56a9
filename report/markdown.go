package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// writeMarkdown writes tables for a pull request: on each path and for each
// workload what every network costs, with a bar, and what affects the numbers.
func writeMarkdown(w io.Writer, results []*result.Result, lang string) (left []string, err error) {
	var b strings.Builder
	words := wordsOf(lang)
	var groups [][]*weigh.Group
	for _, res := range results {
		groups = append(groups, groupsOf(res))
	}
	scale := barScaleOf(slices.Concat(groups...))
	for n, res := range results {
		markdownResult(&b, words, res, groups[n], scale)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return nil, nil
}

func markdownResult(b *strings.Builder, w words, res *result.Result, groups []*weigh.Group, scale barScale) {
	markdownHead(b, w, res, groups)
	if res.Case != nil { // its figures are what the groups hold, next to those published
		markdownCase(b, w, res)
		markdownGrowths(b, w, res)
		markdownWarnings(b, w, res)
		return
	}
	if res.Kernels != nil {
		markdownComparisons(b, w, res)
	}
	a, ok := answerOf(res, groups)
	for _, text := range w.leads(a) {
		fmt.Fprintf(b, "\n%s\n", markdownText(text))
	}
	if ok {
		markdownAnswer(b, w, a)
	}
	if res.Kernels == nil {
		markdownComparisons(b, w, res)
	}
	markdownPairs(b, w, res, groups)
	markdownGrowths(b, w, res)
	if text := w.bars(scale, groups); text != "" {
		fmt.Fprintf(b, "\n%s\n", markdownText(text))
	}
	for _, g := range groups {
		fmt.Fprintf(b, "\n### %s\n\n", markdownText(section{g}.describe(w, groups)))
		markdownTable(b, w, res, g, scale)
	}
	markdownFindings(b, w, res)
	markdownWarnings(b, w, res)
}

// markdownHead is what was measured, where, and how quiet the machine was.
func markdownHead(b *strings.Builder, w words, res *result.Result, groups []*weigh.Group) {
	fmt.Fprintf(b, "## %s\n\n%s\n", markdownText(w.weighed(res, groups)), markdownText(w.machine(res.Environment)))
	if weighs(res) {
		fmt.Fprintf(b, "\n%s\n", markdownText(w.quiet(res, groups)))
	}
	if text := w.where(res); text != "" {
		fmt.Fprintf(b, "\n%s\n", markdownText(text))
	}
	if res.Finished == "" {
		fmt.Fprintf(b, "\n%s\n", w.say("interrupted_markdown"))
	}
}

// markdownAnswer is the matrix and its sentences.
func markdownAnswer(b *strings.Builder, w words, a answer) {
	s := a.timeScale()
	fmt.Fprintf(b, "\n### %s\n\n| %s |", markdownText(w.answerTitle(a)), w.say("network"))
	for n, c := range a.columns {
		ratios, added := a.textsOf(n, s)
		fmt.Fprintf(b, " %s |", markdownText(w.join(strings.TrimSpace(c.path+" "+c.under), unitsOfField(ratios, added, s))))
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(a.columns)) + "\n")
	for _, r := range a.rows {
		fmt.Fprintf(b, "| %s |", markdownText(r.label+when(r.standIn, "*")))
		for _, f := range r.fields {
			ratio, added := fieldTexts(f, s)
			fmt.Fprintf(b, " %s |", strings.TrimSpace(ratio+" "+added))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "\n%s\n\n", markdownText(w.marks(a)))
	for _, text := range w.sentences(a) {
		fmt.Fprintf(b, "- %s\n", markdownText(text))
	}
}

// markdownTable is one group: its networks by the metric that it is judged by, and what limits
// the numbers.
func markdownTable(b *strings.Builder, w words, res *result.Result, g *weigh.Group, scale barScale) {
	t := &table{words: w, groups: []*weigh.Group{g}, headlines: []string{headline(g)}, rows: rowsOf([]*weigh.Group{g}), alone: true}
	names, values := t.names(), t.headlineAlone()
	fmt.Fprintf(b, "| %s | %s | %s | | | %s |\n|---|---:|---:|---|---|---|\n",
		markdownText(names.unit), markdownText(w.join(values.head, values.unit)), w.say("toll_percent"), w.say("verdict"))
	for i, r := range t.rows {
		name, m := markdownText(names.cells[i].text), r.metric(0, t.headlines[0])
		if m == nil {
			if c := r.cells[0]; c != nil {
				fmt.Fprintf(b, "| %s | - | | | | %s |\n", name, markdownText(w.reasonOf(c)))
			}
			continue
		}
		toll, ends, bar, verdict := "", "", "", w.say("baseline")
		if m.Toll != nil && r.network != catalog.Baseline {
			toll, ends = scaleFor("ratio").difference(m.Toll.Value, m.Toll.Low, m.Toll.High)
			verdict = w.verdictText(m.Toll)
			if inPercent(g) {
				bar = scale.bar(m)
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", name, markdownText(values.cells[i].text), toll, ends, bar, markdownText(verdict))
	}
	var below []string
	for n, text := range t.notes.legend {
		below = append(below, fmt.Sprintf("*%d %s", n+1, text))
	}
	markdownItems(b, append(below, t.foot(res)...))
}

// markdownItems is a list, with an empty line before it.
func markdownItems(b *strings.Builder, texts []string) {
	for n, text := range texts {
		fmt.Fprintf(b, "%s- %s\n", when(n == 0, "\n"), markdownText(clip(text, longest)))
	}
}

func markdownFindings(b *strings.Builder, w words, res *result.Result) {
	list := causes(res)
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n", w.say("findings_title"))
	for n, c := range list {
		id := "**" + markdownText(w.causeID(c.ID)) + "**"
		fmt.Fprintf(b, "%d. %s%s\n", n+1, w.of(id, markdownText(c.Cause)), w.aside(w.confidence(c.Finding)))
		if does := w.does(c.Finding); does != "" {
			fmt.Fprintf(b, "\n   %s\n", markdownText(w.say("lead_fix")+does))
		}
		if c.Fix != "" {
			fmt.Fprintf(b, "\n   ```sh\n   %s\n   ```\n", strings.ReplaceAll(result.Plain(c.Fix), "```", ""))
		}
	}
}

// markdownWarnings is what affects the whole run, what was left out of it, and what could not be
// read.
func markdownWarnings(b *strings.Builder, w words, res *result.Result) {
	part := func(title string, texts []string) {
		if len(texts) > 0 {
			fmt.Fprintf(b, "\n### %s\n", title)
			markdownItems(b, texts)
		}
	}
	part(w.say("general_warnings"), res.Warnings)
	part(w.say("left_out"), result.Names(res.Plan.Skipped, func(s result.SkippedNetwork) string { return w.of(s.Name, s.Reason) }))
	part(w.say("unread"), result.Names(res.Unread, func(u result.Unread) string { return w.of(u.Source, u.Reason) }))
}

// markdownText escapes what is special in Markdown and HTML.
func markdownText(text string) string {
	return strings.NewReplacer(
		"\\", "\\\\", "&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "\\|", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "\n", " ",
	).Replace(result.Plain(text))
}
