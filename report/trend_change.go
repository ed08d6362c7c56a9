package report

import (
	"cmp"
	"strconv"

	"tare/result"
	"tare/stats"
)

// mostChanged is how many cells of a change are listed: those that changed most.
const mostChanged = 8

// changes prints when cells changed for longer, and what else is otherwise since.
func (p *page) changes(t result.Trend) {
	p.title(p.say("trend_changes"))
	switch {
	case len(t.Changes) > 0:
	case len(t.Results) < 2*stats.LeastSide:
		p.item("  ", p.say("trend_too_few", "n", strconv.Itoa(2*stats.LeastSide)))
	default:
		p.item("  ", p.say("trend_steady"))
	}
	for _, c := range t.Changes {
		at := t.Results[c.At]
		p.item("  ", p.changeHead(c, at))
		for _, s := range c.Series[:min(len(c.Series), mostChanged)] {
			p.item("    ", p.stepText(s))
		}
		if more := len(c.Series) - mostChanged; more > 0 {
			p.item("    ", p.say("trend_more", "n", strconv.Itoa(more)))
		}
		if len(c.Beside) == 0 {
			p.item("    - ", p.say("trend_nothing_beside"))
		}
		for _, b := range c.Beside {
			p.item("    - ", p.besideText(b))
		}
		for _, why := range c.Unread {
			p.item("    - ", p.of(p.say("trend_unread"), why))
		}
	}
	if len(t.Changes) > 0 {
		p.item("  ", p.say("trend_beside_is"))
	}
}

// changeHead is when a change was, and what of.
func (p *page) changeHead(c result.TrendChange, at result.TrendResult) string {
	switch c.Of {
	case result.ChangeOfMachine:
		return p.say("trend_machine", "at", p.resultName(at), "before", second(c.Before))
	case result.ChangeOfBoth:
		return p.say("trend_both", "at", p.resultName(at), "before", second(c.Before))
	}
	return p.say("trend_network", "at", p.resultName(at), "before", second(c.Before))
}

// stepText is how much a cell changed.
func (w words) stepText(s result.TrendStep) string {
	number, ends := scaleFor("ratio").difference(s.Change.Value, s.Change.Low, s.Change.High)
	text := number + " %"
	if ends != "" {
		text += " " + ends
	}
	if s.Of == result.JudgedByToll {
		return w.say("trend_step_toll", "cell", s.Cell, "metric", w.heading(s.Metric), "change", text, "verdict", w.state(s.Change.Verdict))
	}
	return w.say("trend_step_value", "cell", s.Cell, "metric", w.heading(s.Metric), "change", text, "verdict", w.state(s.Change.Verdict))
}

// besideText is one thing that is otherwise since a change.
func (w words) besideText(b result.TrendBeside) string {
	where := b.Source
	if b.At != "" && b.Source != "" {
		where = b.At + " " + b.Source
	}
	name := b.Name
	if where != "" {
		name = where + " " + name
	}
	switch b.Kind {
	case result.BesideLog:
		if b.At == "" {
			return w.of(w.say("beside_log_more"), b.Name)
		}
		return w.of(w.say("beside_log", "at", clockOf(b.At)), b.Name)
	case result.BesideCounter:
		if b.Old == "" && b.New == "" {
			return w.of(w.say("beside_counter"), name)
		}
		return w.of(w.say("beside_counter"), w.say("beside_work", "name", name, "old", b.Old, "new", b.New))
	case result.BesideCame:
		return w.of(w.say("beside_came", "id", b.Name), b.New)
	case result.BesideWent:
		return w.of(w.say("beside_went", "id", b.Name), b.Old)
	case result.BesideSoak:
		return b.Name
	}
	if b.Old == "" && b.New == "" {
		return w.of(w.say("beside_fact"), name)
	}
	return w.of(w.say("beside_fact"), w.difference(result.Difference{Name: name, Old: cmp.Or(b.Old, w.say("beside_absent")), New: cmp.Or(b.New, w.say("beside_absent"))}))
}

// clockOf is when a line was logged: it is near a change whose day is known.
func clockOf(text string) string {
	if len(text) == len("2006-01-02T15:04:05Z") {
		return text[len("2006-01-02T") : len(text)-1]
	}
	return text
}

// grown prints what grows from round to round.
func (p *page) grown(t result.Trend) {
	if len(t.Growths) == 0 {
		return
	}
	p.title(p.say("trend_grows"))
	for _, g := range t.Growths {
		s := scaleFor(g.Unit, g.First, g.Last)
		p.item("  ", p.of(p.growthName(g), p.say("trend_growth", "first", s.withUnit(g.First), "last", s.withUnit(g.Last), "slope", scaleFor(g.Unit, g.Slope).withUnit(g.Slope))))
	}
}

// growthName names what grows.
func (w words) growthName(g result.TrendGrowth) string {
	switch g.Name {
	case "tracked-connections":
		return w.say("grows_connections")
	case "fdb-entries":
		return w.say("grows_fdb")
	case "neighbour-entries":
		return w.say("grows_neighbours")
	case "kernel-memory":
		return w.say("grows_kernel")
	case "used-memory":
		return w.say("grows_used")
	}
	return result.Plain(g.Name)
}
