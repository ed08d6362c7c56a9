package report

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
)

// unescaped is Markdown as it is read, on one line.
func unescaped(text string) string {
	return squeeze(html.UnescapeString(regexp.MustCompile(`\\([[:punct:]])`).ReplaceAllString(text, "$1")))
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

// TestMarkdownHasTheNoiseAndEveryWarning compares Markdown with the terminal: how quiet the machine
// was, and each warning that the terminal has.
func TestMarkdownHasTheNoiseAndEveryWarning(t *testing.T) {
	found := 0
	for name, build := range scenarios() {
		res := build()
		terminal, marked := squeeze(render(t, res, Options{})), unescaped(markdownOf(t, English, res))
		noise := squeeze(wordsOf(English).quiet(res, groupsOf(res)))
		labtest.Contains(t, name+" in a terminal", terminal, noise)
		labtest.Contains(t, name+" in Markdown", marked, noise)
		for _, text := range warningsOf(res) {
			if text = squeeze(result.Plain(text)); strings.Contains(terminal, text) {
				found++
				labtest.Contains(t, name+" in Markdown", marked, text)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d warnings are in terminals", found)
	}
}

// warningsOf are the texts of a result that limit what its numbers are worth.
func warningsOf(res *result.Result) []string {
	all := append([]string{}, res.Warnings...)
	for _, s := range res.Plan.Skipped {
		all = append(all, s.Reason)
	}
	for _, c := range res.Cells {
		if c.Reason != "" {
			all = append(all, c.Reason)
		}
		for _, m := range c.Metrics {
			all = append(all, m.Warnings...)
		}
		for _, s := range c.Samples {
			all = append(all, s.Warnings...)
		}
	}
	return all
}

// TestMarksOfMarkdownHaveATextBelow: what concerns a number has its mark, also where it is of a
// metric that has no column.
func TestMarksOfMarkdownHaveATextBelow(t *testing.T) {
	res := few()
	for n := range res.Cells {
		if c := &res.Cells[n]; c.Network == "veth" && c.Workload == "tcp_rr" {
			c.Fidelity = "stand-in"
			c.Metrics = append(c.Metrics, result.Metric{Name: "rtt_max", Unit: "s", Warnings: []string{"too_few | of them"}})
		}
	}
	text := markdownOf(t, English, res)
	labtest.Contains(t, "the row", text, `| veth\*1 | `)
	labtest.Contains(t, "the text", text, `- \*1 stand-in: another data path, because the real one is missing here: not ranked against others; rtt\_max: too\_few \| of them`)
}

// TestWhatCouldNotBeReadIsInMarkdown, as it is on the page.
func TestWhatCouldNotBeReadIsInMarkdown(t *testing.T) {
	res := few()
	res.Unread = []result.Unread{{Source: "nft", Reason: "only root may"}}
	labtest.Contains(t, "Markdown", markdownOf(t, English, res), "\n### What could not be read\n\n- nft: only root may\n")
}
