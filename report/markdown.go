package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"tare/network"
	"tare/result"
	"tare/weigh"
)

// writeMarkdown writes tables for a pull request: on each path and for each
// workload what every network costs, with a bar.
func writeMarkdown(w io.Writer, results []*result.Result, lang string) (left []string, err error) {
	var b strings.Builder
	words := wordsOf(lang)
	for _, res := range results {
		groups := groupsOf(res)
		fmt.Fprintf(&b, "## %s\n\n%s\n", markdownText(words.weighed(res, groups)), markdownText(words.machine(res.Environment)))
		if res.Finished == "" {
			fmt.Fprintf(&b, "\n%s\n", words.say("interrupted_markdown"))
		}
		markdownKernels(&b, words, res)
		if a, ok := answerOf(res, groups); ok {
			markdownAnswer(&b, words, a)
		}
		markdownVersus(&b, words, res)
		markdownPairs(&b, words, res, groups)
		markdownReferences(&b, words, res)
		markdownCase(&b, words, res.Case)
		markdownGrowths(&b, words, res)
		for _, g := range groups {
			fmt.Fprintf(&b, "\n### %s\n\n", markdownText(section{g}.describe(words, groups)))
			markdownTable(&b, words, g)
		}
		markdownFindings(&b, words, res)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return nil, nil
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

// markdownTable is one group: its networks by the metric that it is judged by.
func markdownTable(b *strings.Builder, w words, g *weigh.Group) {
	name := headline(g)
	rows := rowsOf([]*weigh.Group{g})
	most := 0.0
	for _, r := range rows {
		if toll := r.toll(0, name); toll != nil && r.network != network.Baseline {
			most = max(most, math.Abs(toll.Value))
		}
	}
	s := (&table{groups: []*weigh.Group{g}, rows: rows}).scale(0, name)
	fmt.Fprintf(b, "| %s | %s | %s | | | %s |\n|---|---:|---:|---|---|---|\n",
		w.say("network"), markdownText(w.join(w.heading(name), s.unit)), w.say("toll_percent"), w.say("verdict"))
	for _, r := range rows {
		m := r.metric(0, name)
		if m == nil {
			if c := r.cells[0]; c != nil {
				fmt.Fprintf(b, "| %s | - | | | | %s |\n", markdownText(r.name()), markdownText(strings.TrimSpace(w.state(c.Status)+" "+w.reasonOf(c))))
			}
			continue
		}
		toll, ends, bar, verdict := "", "", "", w.say("baseline")
		if m.Toll != nil && r.network != network.Baseline {
			toll, ends = scaleFor("ratio").difference(m.Toll.Value, m.Toll.Low, m.Toll.High)
			bar, verdict = bars(m.Toll.Value, most), w.verdictText(m.Toll)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", markdownText(r.name()), s.show(m.Value), toll, ends, bar, markdownText(verdict))
	}
}

// barWidth is the length of the longest bar, in characters.
const barWidth = 16

// bars draws a value of at most so much, in eighths of a character; what is below
// zero has none.
func bars(value, most float64) string {
	if !(value > 0) || !(most > 0) {
		return ""
	}
	eighths := int(math.Round(8 * barWidth * min(1, value/most)))
	parts := []rune(" ▏▎▍▌▋▊▉")
	bar := strings.Repeat("█", eighths/8)
	if eighths%8 > 0 {
		bar += string(parts[eighths%8])
	}
	return bar
}

func markdownFindings(b *strings.Builder, w words, res *result.Result) {
	list := causes(res)
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n", w.say("findings_title"))
	for n, c := range list {
		id := "**" + markdownText(c.ID) + "**"
		fmt.Fprintf(b, "%d. %s%s\n", n+1, w.of(id, markdownText(c.Cause)), w.aside(w.confidence(c.Finding)))
		if c.Fix != "" {
			fmt.Fprintf(b, "\n   ```sh\n   %s\n   ```\n", strings.ReplaceAll(result.Plain(c.Fix), "```", ""))
		}
	}
}

// markdownText escapes what is special in Markdown and HTML.
func markdownText(text string) string {
	return strings.NewReplacer(
		"\\", "\\\\", "&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "\\|", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "\n", " ",
	).Replace(result.Plain(text))
}
