package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tare/result"
)

// markdownCase writes a published measurement that was repeated: the verdicts
// first, then what they rest on. Every table and cause is in a page, and in the terminal.
func markdownCase(b *strings.Builder, w words, res *result.Result) {
	c := res.Case
	command := "tare run --case " + strings.ReplaceAll(result.Plain(c.ID), "`", "") + blocksFlag(c)
	day, _, _ := strings.Cut(res.Started, "T")
	fmt.Fprintf(b, "\n%s**%s.** %s\n\n%s\n", when(day != "", markdownText(day)+": "), markdownText(w.tally(c.Claims)), w.say("again", "command", command), markdownText(w.recommendation(c)))
	fmt.Fprintf(b, "\n| %s | %s | %s |\n|---|---|---|\n", w.say("claim"), w.say("verdict"), w.say("because"))
	for _, one := range c.Claims {
		text := markdownText(one.Text)
		if one.Note != "" {
			text += " (" + markdownText(one.Note) + ")"
		}
		fmt.Fprintf(b, "| %s | **%s** | %s |\n", text, markdownText(w.claimed(one.Verdict)), markdownText(one.Because))
	}
	markdownList(b, w.say("odd"), c.Odd)
	markdownList(b, w.say("defects"), c.Defects)
	fmt.Fprintf(b, "\n### %s\n\n%s\n", w.say("published_and_here"), markdownText(w.say("figures_note")))
	for _, x := range c.Experiments {
		fmt.Fprintf(b, "\n- %s: %s", markdownText(x.Name), markdownText(x.Doc+"; "+w.setUp(x.Plan)))
	}
	b.WriteString("\n")
	measured := slices.DeleteFunc(slices.Clone(c.Figures), func(f result.Figure) bool { return f.Measured == nil })
	for _, t := range figureTables(measured) {
		if len(t.figures) > mostFigures {
			fmt.Fprintf(b, "\n%s\n", markdownText(w.say("figures_elsewhere", "title", t.title, "n", strconv.Itoa(len(t.figures)))))
			continue
		}
		t.markdown(b, w)
	}
	if n := len(c.Figures) - len(measured); n > 0 {
		fmt.Fprintf(b, "\n%s\n", w.say("figures_unmeasured", "n", strconv.Itoa(n)))
	}
}

// blocksFlag is the flag for the blocks of a case; "" where its experiments differ.
func blocksFlag(c *result.Case) string {
	if len(c.Experiments) == 0 {
		return ""
	}
	blocks := c.Experiments[0].Plan.Blocks
	if slices.ContainsFunc(c.Experiments, func(x result.CaseExperiment) bool { return x.Plan.Blocks != blocks }) {
		return ""
	}
	return fmt.Sprintf(" --blocks %d", blocks)
}

func markdownList(b *strings.Builder, title string, texts []string) {
	if len(texts) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	markdownItems(b, texts)
}

// markdown writes a table of figures; an interval is with its toll. Empty columns are left out.
func (t figureTable) markdown(b *strings.Builder, w words) {
	fmt.Fprintf(b, "\n%s\n\n", markdownText(t.title))
	var columns []figureColumn
	for _, c := range t.allColumns(w) {
		if n := len(columns); c.joined && n > 0 {
			before := columns[n-1].text
			ends := c.text
			columns[n-1].text = func(f result.Figure) string { return strings.TrimSpace(before(f) + " " + ends(f)) }
			continue
		}
		columns = append(columns, c)
	}
	columns = slices.DeleteFunc(columns, func(c figureColumn) bool {
		return !slices.ContainsFunc(t.figures, func(f result.Figure) bool { return c.text(f) != "" })
	})
	heads, rule := "|", "|"
	for _, c := range columns {
		heads += " " + markdownText(strings.TrimPrefix(c.head+", "+c.unit, ", ")) + " |"
		if rule += "---"; c.right {
			rule += ":"
		}
		rule += "|"
	}
	b.WriteString(heads + "\n" + rule + "\n")
	for _, f := range t.figures {
		b.WriteString("|")
		for _, c := range columns {
			b.WriteString(" " + markdownText(c.text(f)) + " |")
		}
		b.WriteString("\n")
	}
}
