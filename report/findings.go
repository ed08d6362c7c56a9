package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"tare/result"
)

// cause is a finding and the cells that it was found in.
type cause struct {
	result.Finding
	where []string // with the share of each cell's toll, where there are several
}

// Findings writes what a diagnosis found, the worst first, or where it looked in vain, and what it could
// not see. The only error is that of w.
func Findings(w io.Writer, d result.Diagnosis, opts Options) error {
	p := newPage(opts)
	if len(d.Findings) == 0 {
		p.item("", p.say("no_fault", "where", p.looked(d.Looked)))
	}
	for i, f := range d.Findings {
		p.finding(i, cause{f, f.Paths})
		p.line("     " + p.leadOfFix(f) + result.Plain(f.Fix)) // on one line, however long: to paste
	}
	for _, u := range d.Unread {
		p.item("  "+p.say("lead_unread"), u.Source+": "+u.Reason)
	}
	return p.to(w, "findings")
}

// looked is what a diagnosis looked at.
func (w words) looked(l result.Looked) string {
	var parts []string
	for _, of := range []struct {
		n    int
		text string
	}{
		{l.Paths, w.count("path", l.Paths)}, {l.Trials, w.count("trial", l.Trials)}, {l.Counters, w.count("counter", l.Counters)},
		{l.Settings, w.count("setting", l.Settings)}, {l.Routes, w.count("route_entry", l.Routes)},
	} {
		if of.n > 0 {
			parts = append(parts, of.text)
		}
	}
	return w.join(parts...)
}

// causes lists the findings of a result and of its cells, each once.
func causes(res *result.Result) []cause {
	var list []cause
	shares := map[string][]float64{} // by cause, in the order of the cells
	add := func(f result.Finding, where string) {
		at := slices.IndexFunc(list, func(c cause) bool {
			return c.ID == f.ID && c.Cause == f.Cause && c.Fix == f.Fix
		})
		if at < 0 {
			at = len(list)
			list = append(list, cause{Finding: f})
		}
		if where != "" && !slices.Contains(list[at].where, where) {
			list[at].where = append(list[at].where, where)
			shares[f.ID+f.Cause+f.Fix] = append(shares[f.ID+f.Cause+f.Fix], f.Share)
		}
	}
	for _, f := range res.Findings {
		add(f, "")
	}
	for _, c := range res.Cells {
		for _, f := range c.Findings {
			add(f, cellName(c))
		}
	}
	for n := range list {
		list[n].shareOut(shares[list[n].ID+list[n].Cause+list[n].Fix])
	}
	return list
}

// cellName names a cell among those of a result.
func cellName(c result.Cell) string {
	name := c.Network + " " + c.Path + " " + c.Workload
	if nic := c.Params.Text("nic"); nic != "" && nic != usualNIC {
		name += " nic " + nic
	}
	for _, several := range []string{"connections", "workers"} {
		if n := c.Params.Count(several); n > 0 {
			name += fmt.Sprintf(" %s %d", several, n)
		}
	}
	return name
}

// shareOut names the share of each cell's toll where a cause was found in several:
// there is none of all.
func (c *cause) shareOut(shares []float64) {
	if len(shares) < 2 {
		return
	}
	c.Share, c.Low, c.High = 0, nil, nil
	for n, share := range shares {
		if share > 0 {
			c.where[n] += " (" + partText(share) + ")"
		}
	}
}

// findings prints each cause with its evidence and its fix.
func (p *page) findings(res *result.Result) {
	list := causes(res)
	if len(list) == 0 {
		return
	}
	p.title(p.say("findings_title"))
	for i, c := range list {
		p.finding(i, c)
		if nature, is := natureOf(c.Fix); is {
			p.item("     "+p.say("lead_nature"), nature)
		} else if c.Fix != "" {
			p.item("     "+p.leadOfFix(c.Finding), c.Fix)
		}
		if c.Verified != nil {
			p.item("     "+p.say("lead_verified"), p.verified(c.Verified))
		}
	}
	for _, c := range res.Cells {
		if rest, partly := unexplained(c); partly {
			p.item("  ", p.say("unexplained", "value", percent(rest), "cell", cellName(c)))
		}
	}
}

// verified is what a fix changed when it was applied.
func (w words) verified(v *result.Verified) string {
	switch {
	case v.Metric == "" && v.Recovered == 0:
		return w.say("fix_failed")
	case v.Metric == "":
		return w.say("fix_carries")
	}
	text := w.say("fix_toll", "metric", v.Metric, "before", percent(*v.Before), "after", percent(*v.After))
	if v.Recovered == 0 {
		return text + w.say("fix_nothing")
	}
	return text + w.say("fix_gave", "value", percent(v.Recovered))
}

// unexplained is the share of a cell's toll that its findings leave, where they
// explain some.
func unexplained(c result.Cell) (rest float64, partly bool) {
	rest = 1
	for _, f := range c.Findings {
		rest -= f.Share
	}
	return max(0, rest), rest < 1
}

// finding prints one cause, but for its fix.
func (p *page) finding(i int, c cause) {
	lead := fmt.Sprintf("%3d. ", i+1)
	text := p.of(p.causeID(c.ID), c.Cause)
	if c.Confidence > 0 {
		text += p.aside(p.confidence(c.Finding))
	}
	p.item(lead, text)
	if len(c.where) > 0 {
		p.item("     "+p.say("lead_on"), strings.Join(c.where, "; "))
	}
	var evidence []string
	for _, e := range c.Evidence {
		evidence = append(evidence, e.Name+" "+evidenceText(e.Value)+" ("+e.Source+")")
	}
	if len(evidence) > 0 {
		p.item("     "+p.say("lead_evidence"), strings.Join(evidence, "; "))
	}
}

// leadOfFix is what comes before a fix: where the language has it, a line that says what it does.
func (p *page) leadOfFix(f result.Finding) string {
	does := p.does(f)
	if does == "" {
		return p.say("lead_fix")
	}
	p.item("     "+p.say("lead_fix"), does)
	return p.say("lead_detail")
}

// confidence is how sure a finding is, and how much of the toll it explains.
func (w words) confidence(f result.Finding) string {
	text := w.say("confidence", "value", percent(f.Confidence))
	if f.Share > 0 {
		share := partText(f.Share)
		if f.Low != nil && f.High != nil {
			share += fmt.Sprintf(" [%.1f, %.1f]", 100**f.Low, 100**f.High)
		}
		text = w.join(text, w.say("of_toll", "value", share))
	}
	return text
}

// leastShare is the smallest share that is written with its number.
const leastShare = 0.001

// partText is a share of a toll, which is more than nothing.
func partText(share float64) string {
	if share < leastShare {
		return "≤" + percent(leastShare)
	}
	return percent(share)
}

// evidenceText writes what was found: a measured number to four digits, a count
// in full.
func evidenceText(value any) string {
	if v, ok := value.(float64); ok && v != math.Trunc(v) {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return result.Text(value)
}

// warnings prints what affects the whole run, and what was left out of it.
func (p *page) warnings(res *result.Result) {
	if len(res.Warnings) > 0 {
		p.title(p.say("general_warnings"))
		for _, text := range res.Warnings {
			p.item("  - ", text)
		}
	}
	if len(res.Plan.Skipped) > 0 {
		p.title(p.say("left_out"))
		for _, s := range res.Plan.Skipped {
			p.item("  - ", p.of(clip(result.Plain(s.Name), 24), s.Reason))
		}
	}
}
