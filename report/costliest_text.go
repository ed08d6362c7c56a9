package report

import (
	"slices"
	"strconv"
	"strings"

	"tare/catalog"
	"tare/result"
)

// broken is what is broken, which comes before what anything costs.
func (w words) broken(a answer) string {
	if a.fault == nil {
		return ""
	}
	f, at, more := a.fault, "", ""
	if f.network != "" {
		at = w.aside(w.say("answer_on", "networks", clip(result.Plain(f.network), mostLabel), "paths", result.Plain(f.path)))
	}
	if f.more > 0 {
		more = w.aside(w.say("answer_more", "n", strconv.Itoa(f.more)))
	}
	texts := []string{w.say("answer_fault", "cause", w.caused(f.Finding), "at", at, "more", more), w.original(f.Finding), w.fix(f.Finding)}
	return w.inTurn(texts...)
}

// most is the largest toll as the machine has it, with its cause and what to do about it.
func (w words) most(a answer) string {
	switch {
	case !a.hasIntervals(), a.emulated:
		return ""
	case a.most == nil:
		return w.say("answer_none", "baseline", catalog.Baseline)
	}
	c := a.most
	texts := []string{w.say("answer_most", "network", c.row.label, "path", result.Plain(c.column.path), "tolls", w.tollsOf(a, c))}
	switch {
	case c.cause != nil && c.fault == c.cause:
		texts = append(texts, w.part(c, w.say("answer_that_fault")))
	case c.fault != nil:
		texts = append(texts, w.say("answer_faulty"))
	case c.cause != nil:
		texts = append(texts, w.part(c, w.caused(*c.cause)), w.original(*c.cause), w.fix(*c.cause))
	case slices.ContainsFunc(c.also, unsized):
		return w.inTurn(texts[0], w.say("answer_unsized", "list", w.seen(c.also, func(f result.Finding) string { return "" })))
	default:
		texts = append(texts, w.say("answer_trace", "flags", c.flags()))
	}
	return w.inTurn(append(texts, w.also(c))...)
}

// inTurn are texts that follow each other, without those that are empty. Where a sentence's end is as wide as
// a letter, no blank follows it.
func (w words) inTurn(texts ...string) (all string) {
	stop := w.say("full_stop")
	for _, text := range texts {
		if all != "" && text != "" && (stop == "." || !strings.HasSuffix(all, stop)) {
			all += " "
		}
		all += text
	}
	return all
}

// unsized reports whether nobody knows what share of a toll a finding has.
func unsized(f result.Finding) bool { return f.Share == 0 }

// modelled is the largest toll under an interface or a link of the lab's, which hosts elsewhere
// may have. There is nothing to fix on this machine.
func (w words) modelled(a answer) string {
	c := a.modelled
	if c == nil || a.emulated || !a.hasIntervals() {
		return ""
	}
	text := w.say("answer_modelled", "network", c.row.label, "path", result.Plain(c.column.path), "tolls", w.tollsOf(a, c))
	if c.cause != nil {
		return w.inTurn(text, w.part(c, w.caused(*c.cause)), w.original(*c.cause))
	}
	return text
}

// tollsOf are the tolls of a place that have a verdict.
func (w words) tollsOf(a answer, c *costliest) string {
	var tolls []string
	f := c.field
	if f.ratio != nil && differs(f.ratio.Toll) {
		t := f.ratio.Toll
		tolls = append(tolls, w.say("answer_share", "share", shareText(t.Value, t.Low, t.High), "metric", w.heading(f.ratio.Name)))
	}
	if f.added != nil && differs(f.added.Toll) {
		s, d := a.timeScale(), f.added.Toll.Delta
		number, ends := s.difference(d.Value, d.Low, d.High)
		tolls = append(tolls, w.say("answer_time", "time", strings.TrimSpace(number+" "+s.unit+" "+ends), "metric", w.heading(f.added.Name)))
	}
	return strings.Join(tolls, w.say("and"))
}

// The columns at which a cause, what takes the place of a fix, and what was seen too are cut:
// the findings have all.
const (
	mostCause  = 150
	mostNature = 300
	mostSeen   = 100
	mostAlso   = 2 // of what was seen too
)

// caused is a cause by its name and in words.
func (w words) caused(f result.Finding) string {
	if _, has := w.causes[f.ID]; has {
		return w.causeID(f.ID)
	}
	return w.of(result.Plain(f.ID), clip(result.Plain(f.Cause), mostCause))
}

// causeID is the ID of a cause, with its name where the language has one.
func (w words) causeID(id string) string {
	if name, has := w.causes[id]; has {
		return name.Is + w.aside(id)
	}
	return id
}

// original is the sentence of a cause in English, where caused gives its name alone.
func (w words) original(f result.Finding) string {
	if _, has := w.causes[f.ID]; !has {
		return ""
	}
	return w.say("cause_original", "text", clip(result.Plain(f.Cause), mostCause))
}

// part is how much of a toll a cause explains.
func (w words) part(c *costliest, cause string) string {
	if toll := c.field.ratio; toll != nil && toll == c.causeOf {
		return w.say("answer_points_cause", "cause", cause, "points", points(c.cause.Share*toll.Toll.Value), "of", points(toll.Toll.Value))
	}
	return w.say("answer_share_cause", "cause", cause, "share", percent(c.cause.Share))
}

// fix is what to do about a cause, or that there is nothing to do; empty: nobody knows.
func (w words) fix(f result.Finding) string {
	if nature, is := natureOf(f.Fix); is {
		return w.say("answer_nature", "nature", clip(nature, mostNature))
	}
	if f.Fix == "" {
		return ""
	}
	text := clip(result.Plain(f.Fix), mostCause)
	if does := w.does(f); does != "" {
		text = w.say("fix_in_detail", "does", does, "fix", text)
	}
	return w.say("answer_fix", "fix", text)
}

// does is what a fix does; empty: there is none, or the language has the fix alone.
func (w words) does(f result.Finding) string {
	if _, nature := natureOf(f.Fix); nature || f.Fix == "" {
		return ""
	}
	return w.causes[f.ID].Fix
}

// natureOf is what takes the place of a fix where there is nothing to fix: a comment without a
// command.
func natureOf(fix string) (nature string, is bool) {
	return strings.CutPrefix(result.Plain(fix), "# ")
}

// also is what was seen and is not known to explain much.
func (w words) also(c *costliest) string {
	if len(c.also) == 0 {
		return ""
	}
	return w.say("answer_also", "list", w.seen(c.also, func(f result.Finding) string {
		if unsized(f) {
			return w.aside(w.say("answer_share_unknown"))
		}
		return w.aside(w.say("answer_share_small", "share", partText(f.Share)))
	}))
}

// seen lists the first of some findings, with how much each explains.
func (w words) seen(all []result.Finding, much func(result.Finding) string) string {
	var texts []string
	for _, f := range all[:min(len(all), mostAlso)] {
		text := w.of(result.Plain(f.ID)+much(f), clip(result.Plain(f.Cause), mostSeen))
		if _, has := w.causes[f.ID]; has {
			text = w.caused(f) + much(f)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, w.say("semicolon"))
}

// flags choose the cell of a toll.
func (p *place) flags() string {
	text := "--networks " + clip(result.Plain(p.row.network), mostLabel) + " --paths " + result.Plain(p.column.path)
	if nic := p.field.measured()[0].Params.Text("nic"); nic != "" {
		text += " --nic " + result.Plain(nic)
	}
	return text
}
