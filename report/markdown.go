package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"tare/network"
	"tare/result"
)

// writeMarkdown writes tables for a pull request: on each path and for each
// workload what every network costs, with a bar.
func writeMarkdown(w io.Writer, results []*result.Result) (left []string, err error) {
	var b strings.Builder
	for _, res := range results {
		loads := loadsOf(res)
		fmt.Fprintf(&b, "## %s\n\n%s\n", markdownText(weighed(res, loads)), markdownText(machine(res.Environment)))
		if res.Finished == "" {
			b.WriteString("\n**Interrupted**: this is what was measured until then.\n")
		}
		markdownCase(&b, res.Case)
		for _, l := range loads {
			fmt.Fprintf(&b, "\n### %s\n\n", markdownText(group{loads: []*load{l}}.describe(loads)))
			markdownTable(&b, l)
		}
		markdownFindings(&b, res)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return nil, nil
}

// markdownTable is one load: its networks by the metric that it is judged by.
func markdownTable(b *strings.Builder, l *load) {
	name := headline(l)
	rows := rowsOf([]*load{l})
	most := 0.0
	for _, r := range rows {
		if toll := r.toll(0, name); toll != nil && r.network != network.Baseline {
			most = max(most, math.Abs(toll.Value))
		}
	}
	s := (&table{loads: []*load{l}, rows: rows}).scale(0, name)
	fmt.Fprintf(b, "| network | %s, %s | toll, %% | | | verdict |\n|---|---:|---:|---|---|---|\n", markdownText(heading(name)), markdownText(s.unit))
	for _, r := range rows {
		m := r.metric(0, name)
		if m == nil {
			if c := r.cells[0]; c != nil {
				fmt.Fprintf(b, "| %s | - | | | | %s |\n", markdownText(r.name()), markdownText(strings.TrimSpace(c.Status+" "+reasonOf(c))))
			}
			continue
		}
		toll, ends, bar, verdict := "", "", "", "baseline"
		if m.Toll != nil && r.network != network.Baseline {
			toll, ends = scaleFor("ratio").difference(m.Toll.Value, m.Toll.Low, m.Toll.High)
			bar, verdict = bars(m.Toll.Value, most), verdictText(m.Toll)
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

func markdownFindings(b *strings.Builder, res *result.Result) {
	list := causes(res)
	if len(list) == 0 {
		return
	}
	b.WriteString("\n### Findings\n\n")
	for n, c := range list {
		fmt.Fprintf(b, "%d. **%s**: %s (confidence %s", n+1, markdownText(c.ID), markdownText(c.Cause), percent(c.Confidence))
		if c.Share > 0 {
			fmt.Fprintf(b, ", %s of the toll", percent(c.Share))
		}
		b.WriteString(")\n")
		if c.Fix != "" {
			fmt.Fprintf(b, "\n   ```sh\n   %s\n   ```\n", strings.ReplaceAll(clean(c.Fix), "```", ""))
		}
	}
}

// markdownText is a text in which Markdown and HTML see nothing of theirs.
func markdownText(text string) string {
	return strings.NewReplacer(
		"\\", "\\\\", "&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "\\|", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "\n", " ",
	).Replace(clean(text))
}
