package report

import (
	"fmt"
	"strings"

	"tare/result"
)

// mostFigures is how many a table in a terminal holds.
const mostFigures = 16

// published prints what came of a published measurement that was repeated: its
// figures beside those measured here, a verdict on each claim, and what tare
// recommends.
func (p *page) published(res *result.Result) {
	c := res.Case
	if c == nil {
		return
	}
	p.title("Published: " + c.Title)
	for _, t := range figureTables(c.Figures) {
		if len(t.figures) > mostFigures {
			p.item("  ", fmt.Sprintf("%s: %d figures, on a page or in Markdown: tare report RESULT.json -o FILE.html", t.title, len(t.figures)))
			continue
		}
		p.item("  ", t.title)
		p.print(t.columns())
		p.line("")
	}
	p.item("  ", "A toll is over the host of the same table, or the first network there: + is worse. Values of another machine are not compared. *: a stand-in, which decides nothing.")
	p.claims(c)
	p.list("What of the published figures can't be true together", c.Odd)
	p.list("Defects of the source", c.Defects)
	p.line("")
	p.item("", recommendation(c))
}

// claims prints the verdicts, each with its numbers below.
func (p *page) claims(c *result.Case) {
	p.title("Claims: " + tally(c.Claims))
	for _, one := range c.Claims {
		p.line("  " + p.paint(one.Verdict, claimStyle(one.Verdict)))
		p.item("    ", "\""+one.Text+"\"")
		if one.Note != "" {
			p.item("      ", "("+one.Note+")")
		}
		p.item("      ", one.Because)
	}
}

func (p *page) list(title string, texts []string) {
	if len(texts) == 0 {
		return
	}
	p.title(title)
	for _, text := range texts {
		p.item("  - ", text)
	}
}

// tally counts the verdicts.
func tally(claims []result.Claim) string {
	var texts []string
	for _, verdict := range []string{result.ClaimReproduced, result.ClaimNotReproduced, result.ClaimUntestable} {
		n := 0
		for _, c := range claims {
			if c.Verdict == verdict {
				n++
			}
		}
		texts = append(texts, fmt.Sprintf("%d %s", n, verdict))
	}
	return strings.Join(texts, ", ")
}

func claimStyle(verdict string) style {
	switch verdict {
	case result.ClaimReproduced:
		return green
	case result.ClaimNotReproduced:
		return red
	}
	return yellow
}

// recommendation is what the article advises, and what was measured here does.
func recommendation(c *result.Case) string {
	text := "The article recommends nothing by name"
	if c.Recommends != "" {
		text = "The article recommends: " + c.Recommends
	}
	if c.Ours == "" {
		return text + "; tare on this machine recommends nothing, because " + c.Because + "."
	}
	return text + "; tare on this machine recommends " + c.Ours + ", because " + c.Because + "."
}
