package report

import (
	"fmt"
	"strings"

	"tare/catalog"
	"tare/result"
)

// rankings prints which networks are recommended for the needs of the plan, and the
// reason for each rank.
func (p *page) rankings(res *result.Result) {
	if len(res.Rankings) == 0 {
		return
	}
	p.title(p.say("recommended", "needs", p.list(res.Plan.Needs)))
	for _, r := range res.Rankings {
		path := r.Path
		if nic := r.Params.Text("nic"); nic != "" {
			path = p.join(path, "nic "+nic)
		}
		p.line("")
		p.item("  ", p.say("ranked_by", "path", path, "workload", r.Workload, "metric", p.heading(r.Metric)))
		if len(r.Ranked) == 0 {
			p.item("    ", p.say("no_place"))
		}
		for n, one := range r.Ranked {
			p.item(fmt.Sprintf("    %d. ", one.Place), p.ranked(one, n > 0 && one.Place == r.Ranked[n-1].Place))
		}
		for _, u := range r.Unranked {
			p.item("    -  ", p.of(u.Network, u.Reason))
		}
	}
}

// ranked is a network with the reason for its rank.
func (w words) ranked(r result.Ranked, shared bool) string {
	text := r.Network
	if params := strings.ReplaceAll(string(r.Params), "&", " "); params != "" {
		text += " " + params
	}
	text = w.of(text, w.say("over", "change", shareText(r.Toll.Value, r.Toll.Low, r.Toll.High), "baseline", catalog.Baseline))
	if r.Behind == nil {
		return text
	}
	behind := w.say("worse_than", "change", shareText(r.Behind.Value, r.Behind.Low, r.Behind.High), "name", r.Than)
	if shared {
		behind = w.say("alike_to", "change", shareText(r.Behind.Value, r.Behind.Low, r.Behind.High), "name", r.Than)
	}
	return text + w.say("semicolon") + behind
}

// shareText is a ratio in percent with its interval.
func shareText(value float64, low, high *float64) string {
	number, ends := scaleFor("ratio").difference(value, low, high)
	return strings.TrimSpace(number + " % " + ends)
}
