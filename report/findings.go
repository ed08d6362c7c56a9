package report

import (
	"fmt"
	"slices"
	"strings"

	"tare/result"
)

// cause is a finding and the cells that it was found in.
type cause struct {
	result.Finding
	where []string
}

// causes lists the findings of a result and of its cells, each once.
func causes(res *result.Result) []cause {
	var list []cause
	add := func(f result.Finding, where string) {
		at := slices.IndexFunc(list, func(c cause) bool {
			return c.ID == f.ID && c.Cause == f.Cause && c.Fix == f.Fix
		})
		if at < 0 {
			at = len(list)
			list = append(list, cause{Finding: f})
		}
		if where != "" {
			list[at].where = append(list[at].where, where)
		}
	}
	for _, f := range res.Findings {
		add(f, "")
	}
	for _, c := range res.Cells {
		for _, f := range c.Findings {
			add(f, c.Network+" "+c.Path+" "+c.Workload)
		}
	}
	return list
}

// findings prints each cause with its evidence and its fix.
func (p *page) findings(res *result.Result) {
	list := causes(res)
	if len(list) == 0 {
		return
	}
	p.title("Findings")
	for i, c := range list {
		lead := fmt.Sprintf("%3d. ", i+1)
		text := c.Cause
		if c.Confidence > 0 {
			text += " (confidence " + percent(c.Confidence)
			if c.Share > 0 {
				text += ", " + percent(c.Share) + " of the toll"
			}
			text += ")"
		}
		p.item(lead, text)
		if len(c.where) > 0 {
			p.item("     on: ", strings.Join(c.where, "; "))
		}
		var evidence []string
		for _, e := range c.Evidence {
			evidence = append(evidence, e.Name+" "+paramText(e.Value)+" ("+e.Source+")")
		}
		if len(evidence) > 0 {
			p.item("     evidence: ", strings.Join(evidence, "; "))
		}
		if c.Fix != "" {
			p.item("     fix: ", c.Fix)
		}
	}
}

// warnings prints what touches the whole run, and what was left out of it.
func (p *page) warnings(res *result.Result) {
	if len(res.Warnings) > 0 {
		p.title("Warnings")
		for _, text := range res.Warnings {
			p.item("  - ", text)
		}
	}
	if len(res.Plan.Skipped) > 0 {
		p.title("Left out")
		for _, s := range res.Plan.Skipped {
			p.item("  - ", clip(clean(s.Name), 24)+": "+s.Reason)
		}
	}
}
