package report

import (
	"fmt"
	"strings"

	"tare/network"
	"tare/result"
)

// rankings prints which networks are recommended for what was asked of them, and
// what speaks for each place.
func (p *page) rankings(res *result.Result) {
	if len(res.Rankings) == 0 {
		return
	}
	p.title("Recommended for " + strings.Join(res.Plan.Needs, ", "))
	for _, r := range res.Rankings {
		setting := ""
		if nic, given := r.Params["nic"]; given {
			setting = ", nic " + paramText(nic)
		}
		p.line("")
		p.item("  ", r.Path+setting+": "+r.Workload+", by its toll on "+heading(r.Metric))
		if len(r.Ranked) == 0 {
			p.item("    ", "none has a place")
		}
		for n, one := range r.Ranked {
			p.item(fmt.Sprintf("    %d. ", one.Place), rankedText(one, n > 0 && one.Place == r.Ranked[n-1].Place))
		}
		for _, u := range r.Unranked {
			p.item("    -  ", u.Network+": "+u.Reason)
		}
	}
}

// rankedText is a network at its place, and why it is there.
func rankedText(r result.Ranked, shared bool) string {
	text := r.Network
	if params := strings.ReplaceAll(string(r.Params), "&", " "); params != "" {
		text += " " + params
	}
	text += ": " + shareText(r.Toll.Value, r.Toll.Low, r.Toll.High) + " over " + network.Baseline
	switch {
	case r.Behind == nil:
	case shared:
		text += "; no measurable difference to " + r.Than + " (" + shareText(r.Behind.Value, r.Behind.Low, r.Behind.High) + ")"
	default:
		text += "; " + shareText(r.Behind.Value, r.Behind.Low, r.Behind.High) + " worse than " + r.Than
	}
	return text
}

// shareText is a ratio in percent with its interval.
func shareText(value float64, low, high *float64) string {
	number, ends := scaleFor("ratio").difference(value, low, high)
	return strings.TrimSpace(number + " % " + ends)
}
