package report

import (
	"fmt"
	"strings"

	"tare/result"
)

// markdownCase writes a published measurement that was repeated: the verdicts
// first, then what they rest on.
func markdownCase(b *strings.Builder, c *result.Case) {
	if c == nil {
		return
	}
	fmt.Fprintf(b, "\n**%s.** Again: `tare run --case %s`\n\n%s\n", markdownText(tally(c.Claims)), strings.ReplaceAll(clean(c.ID), "`", ""), markdownText(recommendation(c)))
	b.WriteString("\n| claim | verdict | because |\n|---|---|---|\n")
	for _, one := range c.Claims {
		text := markdownText(one.Text)
		if one.Note != "" {
			text += " (" + markdownText(one.Note) + ")"
		}
		fmt.Fprintf(b, "| %s | **%s** | %s |\n", text, markdownText(one.Verdict), markdownText(one.Because))
	}
	markdownList(b, "What of the published figures can't be true together", c.Odd)
	markdownList(b, "Defects of the source", c.Defects)
	b.WriteString("\n### Published and measured\n\nA toll is over the host of the same table, or the first network there: + is worse. Values of another machine are not compared. \\*: a stand-in, which decides nothing.\n")
	for _, x := range c.Experiments {
		fmt.Fprintf(b, "\n- %s: %s", markdownText(x.Name), markdownText(x.Doc+"; "+setUp(x.Plan)))
	}
	b.WriteString("\n")
	for _, t := range figureTables(c.Figures) {
		t.markdown(b)
	}
}

func markdownList(b *strings.Builder, title string, texts []string) {
	if len(texts) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n", title)
	for _, text := range texts {
		fmt.Fprintf(b, "- %s\n", markdownText(text))
	}
}

// markdown writes a table of figures; an interval stands with its toll.
func (t figureTable) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s\n\n", markdownText(t.title))
	var columns []figureColumn
	for _, c := range t.layOut() {
		if n := len(columns); c.joined && n > 0 {
			before := columns[n-1].text
			ends := c.text
			columns[n-1].text = func(f result.Figure) string { return strings.TrimSpace(before(f) + " " + ends(f)) }
			continue
		}
		columns = append(columns, c)
	}
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
