package report

import (
	"strconv"

	"tare/result"
)

// mostFigures is how many a table in a terminal or in Markdown holds.
const mostFigures = 16

// published prints the outcome of a published measurement that was repeated: its
// figures compared with those measured here, a verdict on each claim, and what tare
// recommends.
func (p *page) published(res *result.Result) {
	c := res.Case
	if c == nil {
		return
	}
	p.title(p.say("published", "title", c.Title))
	for _, t := range figureTables(c.Figures) {
		if len(t.figures) > mostFigures {
			p.item("  ", p.say("figures_elsewhere", "title", t.title, "n", strconv.Itoa(len(t.figures))))
			continue
		}
		p.item("  ", t.title)
		p.print(t.columns(p.words))
		p.line("")
	}
	p.item("  ", p.say("figures_note"))
	p.claims(c)
	p.items(p.say("odd"), c.Odd)
	p.items(p.say("defects"), c.Defects)
	p.line("")
	p.item("", p.recommendation(c))
}

// claims prints the verdicts, each with its numbers below.
func (p *page) claims(c *result.Case) {
	p.title(p.of(p.say("claims"), p.tally(c.Claims)))
	for _, one := range c.Claims {
		p.line("  " + p.paint(p.claimed(one.Verdict), claimStyle(one.Verdict)))
		p.item("    ", "\""+one.Text+"\"")
		if one.Note != "" {
			p.item("      ", "("+one.Note+")")
		}
		p.item("      ", one.Because)
	}
}

func (p *page) items(title string, texts []string) {
	if len(texts) == 0 {
		return
	}
	p.title(title)
	for _, text := range texts {
		p.item("  - ", text)
	}
}

// tally counts the verdicts.
func (w words) tally(claims []result.Claim) string {
	var texts []string
	for _, verdict := range []string{result.ClaimReproduced, result.ClaimNotReproduced, result.ClaimUntestable} {
		n := 0
		for _, c := range claims {
			if c.Verdict == verdict {
				n++
			}
		}
		texts = append(texts, strconv.Itoa(n)+" "+w.claimed(verdict))
	}
	return w.join(texts...)
}

// claimed is the word for a verdict on a claim; one that is not known is shown as it
// is.
func (w words) claimed(verdict string) string {
	switch verdict {
	case result.ClaimReproduced:
		return w.say("reproduced")
	case result.ClaimNotReproduced:
		return w.say("not reproduced")
	case result.ClaimUntestable:
		return w.say("cannot be tested here")
	}
	return result.Plain(verdict)
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
func (w words) recommendation(c *result.Case) string {
	article := w.say("article_nothing")
	if c.Recommends != "" {
		article = w.say("article_recommends", "text", c.Recommends)
	}
	if c.Ours == "" {
		return article + " " + w.say("ours_nothing", "because", c.Because)
	}
	return article + " " + w.say("ours", "name", c.Ours, "because", c.Because)
}
