package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// answer prints the answer of a result.
func (p *page) answer(a answer) {
	p.lead(a)
	p.title(p.answerTitle(a))
	p.print(p.matrix(a.matrix))
	p.item("  ", p.marks(a))
	p.line("")
	for _, text := range p.sentences(a) {
		p.item("- ", text)
	}
}

// lead prints what was asked, in words.
func (p *page) lead(a answer) {
	for n, text := range p.leads(a) {
		if n == 0 {
			p.line("")
		}
		p.item("", text)
	}
}

// mostReminders is how many warnings are below an answer, and how many networks that
// were left out; the tables have all.
const mostReminders = 2

// reminders prints what fixes changed, the first warnings about the whole run, and
// what was left out of it.
func (p *page) reminders(res *result.Result) {
	for _, c := range causes(res) {
		if c.Verified != nil {
			p.item("- ", p.join(c.ID, p.say("lead_verified")+p.verified(c.Verified)))
		}
	}
	for n, text := range res.Warnings {
		if n == mostReminders {
			p.item("- ", p.say("answer_warnings", "warnings", p.count("other_warning", len(res.Warnings)-n)))
			break
		}
		p.item("- ", p.say("answer_warning", "text", clip(result.Plain(text), 200)))
	}
	p.leftOut(res.Plan.Skipped)
	p.leftOut(skippedCells(res))
}

// leftOut prints what was left out, and why.
func (p *page) leftOut(left []result.SkippedNetwork) {
	if len(left) > mostReminders {
		p.item("- ", p.say("answer_left_out", "networks", p.count("network", len(left))))
		return
	}
	for _, s := range left {
		p.item("- ", p.say("answer_left", "network", clip(result.Plain(s.Name), 24), "reason", clip(result.Plain(s.Reason), 200)))
	}
}

// answerTitle says what the numbers of the matrix are.
func (w words) answerTitle(a answer) string {
	return w.say("answer_title", "baseline", catalog.Baseline, "numbers", w.numbersOf(a))
}

// numbersOf names the two numbers of a field.
func (w words) numbersOf(a answer) string {
	var ratios, added []string
	for p := range a.tolls() {
		name := w.heading(p.metric.Name)
		if p.metric == p.field.ratio && !slices.Contains(ratios, name) {
			ratios = append(ratios, name)
		}
		if p.metric == p.field.added && !slices.Contains(added, name) {
			added = append(added, name)
		}
	}
	var texts []string
	if len(ratios) > 0 {
		texts = append(texts, w.say("answer_ratio", "metrics", w.list(ratios)))
	}
	if len(added) > 0 {
		texts = append(texts, w.say("answer_added", "metrics", w.list(added), "unit", a.timeScale().unit))
	}
	return w.join(texts...)
}

// marks says what the marks of the matrix mean, and from which toll on there are
// numbers.
func (w words) marks(a answer) string { return w.marksWith(a, w.say("answer_dot")) }

// marksWith is the same where what the dot means is said in other words.
func (w words) marksWith(a answer, dot string) string {
	texts := []string{w.say("answer_equal"), dot}
	if slices.ContainsFunc(a.rows, func(r matrixRow) bool { return r.standIn }) {
		texts = append(texts, w.say("answer_stand_in"))
	}
	if len(a.failed) > 0 {
		texts = append(texts, w.say("answer_broken"))
	}
	return strings.Join(texts, w.say("semicolon")) + w.say("full_stop")
}

// sentences say what follows from the matrix.
func (w words) sentences(a answer) []string {
	var all []string
	for _, text := range []string{w.broken(a), w.finest(a), w.most(a), w.modelled(a), w.cheapest(a), w.gains(a), w.inconclusive(a), w.failures(a)} {
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}

// finest is how fine the run was.
func (w words) finest(a answer) string {
	var texts []string
	add := func(r resolution, unit scale) {
		if !(r.median > 0) {
			return
		}
		worst := ""
		if r.worst >= 1.5*r.median {
			worst = w.aside(w.say("answer_worst", "worst", unit.rough(r.worst)))
		}
		var names []string
		for _, name := range r.metrics {
			names = append(names, w.heading(name))
		}
		texts = append(texts, w.say("answer_finest", "least", unit.rough(r.median), "metric", w.list(names), "worst", worst))
	}
	add(a.ratios, scaleFor("ratio"))
	add(a.times, a.timeScale())
	if len(texts) == 0 {
		return ""
	}
	return w.say("answer_detects", "tolls", strings.Join(texts, w.say("and")))
}

// points are those of a ratio in percent: whole ones, or tenths where they are few.
func points(ratio float64) string {
	if math.Abs(ratio) >= 0.1 {
		return strconv.FormatFloat(100*ratio, 'f', 0, 64)
	}
	return strconv.FormatFloat(100*ratio, 'f', 1, 64)
}

// cheapest is which network to take.
func (w words) cheapest(a answer) string {
	var texts, all []string
	for _, l := range a.least {
		texts = append(texts, w.say("answer_on", "networks", w.list(clipped(l.networks)), "paths", w.list(clipped(l.paths))))
	}
	if len(texts) > 0 {
		all = append(all, w.say("answer_least", "list", strings.Join(texts, w.say("semicolon"))))
	}
	for _, l := range a.unknown {
		all = append(all, w.say("answer_least_unknown", "networks", w.list(clipped(l.networks)), "paths", w.list(clipped(l.paths))))
	}
	if a.without != nil {
		all = append(all, w.say("answer_without", "networks", w.list(clipped(a.without))))
	}
	return strings.Join(all, " ")
}

func clipped(names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, clip(result.Plain(name), mostLabel))
	}
	return all
}

// mostGains is how many of the networks that were faster are named.
const mostGains = 2

// gains are the networks that were faster than the baseline. Where that took more
// CPU, it is said what it is worth.
func (w words) gains(a answer) string {
	if len(a.faster) == 0 {
		return ""
	}
	var texts []string
	dearer := false
	between := slices.ContainsFunc(a.faster, func(g gain) bool { return !g.dearer && !catalog.Within(g.column.path) })
	for _, g := range a.faster[:min(len(a.faster), mostGains)] {
		text := w.say("answer_gain", "network", g.row.label, "share", percent(math.Abs(g.metric.Toll.Value)), "path", result.Plain(g.column.path))
		if g.dearer {
			dearer, text = true, text+w.aside(w.say("answer_more_cpu"))
		}
		texts = append(texts, text)
	}
	if more := len(a.faster) - mostGains; more > 0 {
		texts = append(texts, w.say("answer_more", "n", strconv.Itoa(more)))
	}
	text := w.say("answer_faster", "list", w.join(texts...), "baseline", catalog.Baseline)
	if dearer {
		text += w.say("answer_dearer")
	}
	if between {
		text += w.say("answer_no_gain")
	}
	return text
}

// inconclusive is what has no verdict, and what would change that.
func (w words) inconclusive(a answer) string {
	u := a.open
	if u.tolls == 0 {
		return w.say("answer_all_decided")
	}
	if !a.hasIntervals() && u.done < stats.MinBlocks {
		return w.say("few_blocks", "blocks", w.count("block", u.done), "n", strconv.Itoa(stats.MinBlocks)) + w.say("full_stop")
	}
	text := w.say("answer_inconclusive", "n", strconv.Itoa(u.tolls), "comparisons", w.count("comparison", u.of))
	switch {
	case u.blocks > 0 && u.takes > 0 && u.looks:
		text += w.say("answer_max_time", "n", strconv.Itoa(u.then), "time", strconv.Itoa(int(math.Ceil(u.takes.Minutes()))))
	case u.blocks > 0:
		took := ""
		if u.takes > 0 {
			took = w.aside(w.say("answer_takes", "time", w.minutes(u.takes)))
		}
		text += w.say("answer_blocks", "n", strconv.Itoa(u.then), "blocks", strconv.Itoa(u.blocks), "takes", took)
	}
	return text + w.say("full_stop")
}

// minutes is a time that people wait for.
func (w words) minutes(d time.Duration) string {
	if d < 90*time.Second {
		return scaleFor("s", 1).withUnit(math.Ceil(d.Seconds()))
	}
	return w.count("minute", int(math.Ceil(d.Minutes())))
}

// failures is why a network could not be measured, and how many others there are.
func (w words) failures(a answer) string {
	if len(a.failed) == 0 {
		return ""
	}
	f, more := a.failed[0], ""
	if n := len(a.failed) - 1; n > 0 {
		more = w.aside(w.say("answer_more", "n", strconv.Itoa(n)))
	}
	return w.say("answer_failed", "network", clip(result.Plain(f.network), mostLabel), "path", result.Plain(f.path), "reason", clip(result.Plain(f.reason), mostCause), "more", more)
}

// skippedCells are the networks that lack a path or reach no server of a workload, with why,
// each reason once.
func skippedCells(res *result.Result) []result.SkippedNetwork {
	var all []result.SkippedNetwork
	for _, c := range res.Cells {
		if c.Status == result.StatusSkipped {
			all = result.AddOnce(all, result.SkippedNetwork{Name: c.Network, Reason: c.Reason})
		}
	}
	return all
}
