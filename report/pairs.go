package report

import (
	"fmt"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// pairsRow is a network on a path under a workload, with its toll on each pair of machines.
type pairsRow struct {
	Where   string      `json:"where"`
	Network string      `json:"network"`
	Tolls   []pairsToll `json:"tolls"`
}

// pairsToll is a toll on one pair, on what the row's group is judged by.
type pairsToll struct {
	Machines string       `json:"machines"`
	Toll     *result.Toll `json:"toll"`
}

// pairsOf are the tolls on each pair of machines, in the order of the pairs.
func pairsOf(res *result.Result, groups []*weigh.Group) []pairsRow {
	rows := []pairsRow{}
	for _, g := range groups {
		for _, c := range g.Cells {
			row := pairsRow{Where: fmt.Sprintf("%s, %s", g.Path, g.Workload), Network: c.Network}
			for _, pair := range res.Pairs {
				if toll := tollOn(pair, c, headline(g)); toll != nil {
					row.Tolls = append(row.Tolls, pairsToll{strings.Join(pair.Machines, " - "), toll})
				}
			}
			if c.Network != catalog.Baseline && len(row.Tolls) > 0 {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// tollOn is the toll of a cell on one pair; nil: it has none there.
func tollOn(pair result.MachinePair, of *result.Cell, metric string) *result.Toll {
	c := weigh.Same(&result.Result{Cells: pair.Cells}, of)
	if c == nil {
		return nil
	}
	if m := weigh.Metric(c, metric); m != nil {
		return m.Toll
	}
	return nil
}

// pairs prints the tolls on each pair of machines.
func (p *page) pairs(res *result.Result, groups []*weigh.Group) {
	rows := pairsOf(res, groups)
	if len(rows) == 0 {
		return
	}
	p.title(p.say("by_pairs"))
	for n, row := range rows {
		if n == 0 || rows[n-1].Where != row.Where {
			p.item("  ", row.Where)
		}
		p.item("    "+result.Plain(row.Network)+": ", row.text(p.words))
	}
}

func (r pairsRow) text(w words) string {
	var texts []string
	for _, one := range r.Tolls {
		texts = append(texts, result.Plain(one.Machines)+" "+shareText(one.Toll.Value, one.Toll.Low, one.Toll.High))
	}
	return w.join(texts...)
}

// markdownPairs is the same as Markdown.
func markdownPairs(b *strings.Builder, w words, res *result.Result, groups []*weigh.Group) {
	rows := pairsOf(res, groups)
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n", markdownText(w.say("by_pairs")))
	for _, row := range rows {
		fmt.Fprintf(b, "- %s: %s: %s\n", markdownText(row.Where), markdownText(row.Network), markdownText(row.text(w)))
	}
}
