package report

import (
	"fmt"
	"strings"

	"tare/catalog"
	"tare/result"
)

// references prints how paths differ from the one that is the reference, where no host was
// there to be the baseline.
func (p *page) references(res *result.Result) {
	if len(res.References) == 0 {
		return
	}
	p.title(p.say("by_reference", "path", result.Plain(res.Plan.Reference)))
	for _, text := range referenceTexts(res) {
		p.item("  ", text)
	}
}

// referenceTexts are those of each workload's headline.
func referenceTexts(res *result.Result) (texts []string) {
	for _, r := range res.References {
		if kind, known := catalog.FindWorkload(r.Workload); known && kind.Headline == r.Metric {
			texts = append(texts, result.Plain(fmt.Sprintf("%s on %s, %s %s: %s", r.Network, r.Path, r.Workload, r.Metric, shareText(r.Value, r.Low, r.High))))
		}
	}
	return texts
}

// markdownReferences is the same as Markdown.
func markdownReferences(b *strings.Builder, w words, res *result.Result) {
	if len(res.References) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n", markdownText(w.say("by_reference", "path", result.Plain(res.Plan.Reference))))
	for _, text := range referenceTexts(res) {
		fmt.Fprintf(b, "- %s\n", markdownText(text))
	}
}
