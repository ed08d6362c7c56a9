package diagnosis

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tare/bench/harness"
	"tare/stats"
)

// page is what diagnosis.md is made of.
type page struct {
	options
	Machine     harness.Machine
	Causes      []cause // all that are listed
	Trials      []trial
	Interrupted bool
	Again       int // trials that were taken again, after a rule or an injection was mended
}

//go:embed diagnosis.md
var diagnosisPage string

func (p page) write() error {
	return harness.Write(p.output, "diagnosis", diagnosisPage, map[string]any{"Page": p, "Board": p.count()})
}

// command is the call with the flags that are set.
func (o options) command() string {
	text := "go run ./bench diagnosis"
	if o.shares {
		text += " -shares"
	}
	for _, f := range []struct{ name, value string }{{"causes", o.causes}, {"networks", o.networks}, {"wording", o.wording}} {
		if f.value != "" {
			text += " -" + f.name + " " + f.value
		}
	}
	if !o.clean {
		text += " -clean=false"
	}
	return text
}

// Command is what writes this page again.
func (p page) Command() string { return p.command() }

// What a verdict that names no cause counts as, in place of one.
const (
	silence  = "none"
	noAnswer = "no answer"
)

// score is how often a cause was named where it was brought about.
type score struct {
	asked, first, found int            // verdicts; those that named it before all others; those that named it at all
	named               map[string]int // verdicts by the cause that they named first
	seconds             []float64      // to each verdict
}

// scoreboard holds the scores by cause.
type scoreboard struct {
	scores        map[string]score
	total         score
	byWording     [2]score       // of the first wordings, and of all others
	claims        map[string]int // verdicts that named a cause first, clean labs included
	clean         score          // of clean labs: first counts those that named nothing
	mends, fixes  map[string]int // injections whose symptom ended with the fix, and whose fix was carried out, by cause
	seconds       map[string][]float64
	Alarms        [][]string // what was named in clean labs: network, path, question, causes
	Stays, Failed [][]string // fixes that fixed nothing, and trials and questions without an answer
}

// count adds up the trials.
func (p page) count() *scoreboard {
	b := &scoreboard{scores: map[string]score{}, claims: map[string]int{}, mends: map[string]int{}, fixes: map[string]int{}, seconds: map[string][]float64{}}
	for _, t := range p.Trials {
		if t.Mended != "" {
			b.fixes[t.Cause]++
		}
		if t.Mended == mended {
			b.mends[t.Cause]++
		} else if why, stays := strings.CutPrefix(t.Mended, notMended+": "); stays {
			b.Stays = append(b.Stays, []string{t.name(), t.Network, harness.Line(why)})
		}
		if t.Error != "" {
			b.Failed = append(b.Failed, []string{t.name(), t.Network, "", harness.Line(t.Error)})
		}
		for _, v := range t.Verdicts {
			verb, _, _ := strings.Cut(strings.TrimPrefix(v.Asked, "tare "), " ")
			b.seconds[verb] = append(b.seconds[verb], v.Seconds)
			if v.Error != "" {
				b.Failed = append(b.Failed, []string{t.name(), t.Network, "`" + v.Asked + "`", harness.Line(v.Error)})
			}
			if t.Cause == "" {
				b.addClean(t, v)
				continue
			}
			b.claims[v.first()]++
			s := b.scores[t.Cause]
			s.add(t.Cause, v)
			b.scores[t.Cause] = s
			b.total.add(t.Cause, v)
			b.byWording[min(1, p.wordingIndex(t))].add(t.Cause, v)
		}
	}
	return b
}

// addClean counts a verdict on a clean lab. What the network costs of itself
// may be named there.
func (b *scoreboard) addClean(t trial, v verdict) {
	v.Found = slices.DeleteFunc(slices.Clone(v.Found), func(id string) bool { return slices.Contains(ownCosts(t.Network), id) })
	b.clean.add("", v)
	if len(v.Found) > 0 {
		b.claims[v.first()]++
		b.Alarms = append(b.Alarms, []string{t.Network, t.Path, "`" + v.Asked + "`", strings.Join(v.Found, ", ")})
	}
}

// add counts a verdict where a cause was expected; empty: none.
func (s *score) add(expected string, v verdict) {
	if s.named == nil {
		s.named = map[string]int{}
	}
	s.asked++
	s.seconds = append(s.seconds, v.Seconds)
	switch {
	case v.Error != "":
		s.named[noAnswer]++
		return
	case v.first() == "":
		s.named[silence]++
	default:
		s.named[v.first()]++
	}
	if v.first() == expected {
		s.first++
	}
	if slices.Contains(v.Found, expected) {
		s.found++
	}
}

// wordingIndex is the place of a trial's wording among its cause's.
func (p page) wordingIndex(t trial) int {
	n := slices.IndexFunc(p.Causes, func(c cause) bool { return c.ID == t.Cause })
	return slices.IndexFunc(p.Causes[n].Wordings, func(w wording) bool { return w.Name == t.Wording })
}

// Summary has a row for each share, and what is wanted of it.
func (b *scoreboard) Summary() [][]string {
	sum := func(counts map[string]int) (all int) {
		for _, n := range counts {
			all += n
		}
		return all
	}
	rows := [][]string{
		{"named first, of all verdicts on injections", harness.Share(b.total.first, b.total.asked), "95 %"},
		{"named at all", harness.Share(b.total.found, b.total.asked), ""},
		{"named first, first variants", harness.Share(b.byWording[0].first, b.byWording[0].asked), ""},
		{"named first, the other variants, which were examined only where they had been missed", harness.Share(b.byWording[1].first, b.byWording[1].asked), ""},
		{"no false finding on a clean lab, apart from what its network costs by itself", b.Clean(), "98 %"},
		{"fixed by the fix as printed, of those whose fix can be carried out", harness.Share(sum(b.mends), sum(b.fixes)), ""},
	}
	for _, verb := range []string{doctorVerb, runVerb} {
		if took := b.seconds[verb]; len(took) > 0 {
			rows = append(rows, []string{"time to verdict of `tare " + verb + "`: median, maximum", fmt.Sprintf("%.1f s, %.1f s", stats.Median(took), slices.Max(took)), ""})
		}
	}
	return rows
}

// Clean is how many verdicts on clean labs named nothing.
func (b *scoreboard) Clean() string { return harness.Share(b.clean.first, b.clean.asked) }

// Row is that of a cause; nil: it was not injected.
func (b *scoreboard) Row(c cause) []string {
	s := b.scores[c.ID]
	switch {
	case c.NotHere != "":
		return []string{"`" + c.ID + "`", "not here", "", "", "", c.NotHere, "", ""}
	case s.asked == 0:
		return nil
	}
	return []string{
		"`" + c.ID + "`", fmt.Sprint(s.asked), harness.Share(s.first, s.asked), harness.Share(s.found, s.asked), harness.Share(s.first, b.claims[c.ID]),
		s.instead(c.ID), harness.Share(b.mends[c.ID], b.fixes[c.ID]), fmt.Sprintf("%.1f s", stats.Median(s.seconds)),
	}
}

// instead lists what was named first in place of the cause, the most frequent
// first.
func (s score) instead(cause string) string {
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(s.named)), func(id string) bool { return id == cause })
	slices.SortStableFunc(others, func(a, b string) int { return s.named[b] - s.named[a] })
	for n, id := range others {
		if times := s.named[id]; times > 1 {
			others[n] += fmt.Sprintf(" ×%d", times)
		}
	}
	return strings.Join(others, ", ")
}

// Matrix shows the causes that were injected by row, and those that were named
// first by column, as the rows number them. Its first row is the head.
func (b *scoreboard) Matrix(causes []cause) [][]string {
	ids := []string{}
	for _, c := range causes {
		ids = append(ids, c.ID)
	}
	var columns []string
	head := []string{"", "injected"}
	for n, id := range append(slices.Clone(ids), silence, noAnswer) {
		if !slices.ContainsFunc(ids, func(row string) bool { return b.scores[row].named[id] > 0 }) {
			continue
		}
		columns = append(columns, id)
		if n < len(ids) {
			id = fmt.Sprint(n + 1)
		}
		head = append(head, id)
	}
	rows := [][]string{head}
	for n, id := range ids {
		if b.scores[id].asked == 0 {
			continue
		}
		row := []string{fmt.Sprint(n + 1), "`" + id + "`"}
		for _, named := range columns {
			cell := ""
			if times := b.scores[id].named[named]; times > 0 {
				cell = fmt.Sprint(times)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// Spots are where a wording is injected.
func (w wording) Spots() string {
	var names []string
	for _, at := range w.on {
		names = append(names, at.String())
	}
	return strings.Join(names, ", ")
}

// Indented is the script with the margin of a page.
func (s step) Indented() string { return "     " + strings.ReplaceAll(s.Script, "\n", "\n     ") }
