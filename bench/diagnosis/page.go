package diagnosis

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tare/bench/harness"
	"tare/result"
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

// Command is what writes this page again.
func (p page) Command() string { return p.command }

// What a verdict that names no cause counts as, in place of one.
const (
	silence  = "none"
	noAnswer = "no answer"
)

// score is how often a cause was named where it was brought about.
type score struct {
	Asked, First, Found int            // verdicts; those that named it before all others; those that named it at all
	named               map[string]int // verdicts by the cause that they named first
	Seconds             []float64      // to each verdict
}

// Recall is how many verdicts named the cause first, and Any how many named it at all.
func (s score) Recall() string { return harness.Share(s.First, s.Asked) }

func (s score) Any() string { return harness.Share(s.Found, s.Asked) }

// Median and Most are of the times to the verdicts, in s.
func (s score) Median() float64 { return stats.Median(s.Seconds) }

func (s score) Most() float64 { return slices.Max(s.Seconds) }

// scoreboard holds the scores by cause.
type scoreboard struct {
	scores        map[string]*score
	Total         score
	First, Others score             // of the first wordings, and of all others
	Clean         score             // of clean labs: First counts those that named nothing
	Verbs         map[string]*score // of the verbs that were asked
	claims        map[string]int    // verdicts that named a cause first, clean labs included
	mends, fixes  map[string]int    // injections whose symptom ended with the fix, and whose fix was carried out, by cause; "" of all
	Alarms        [][]string        // what was named in clean labs: network, path, question, causes
	Stays, Failed [][]string        // fixes that fixed nothing, and trials and questions without an answer
}

// count adds up the trials.
func (p page) count() *scoreboard {
	b := &scoreboard{scores: map[string]*score{}, Verbs: map[string]*score{}, claims: map[string]int{}, mends: map[string]int{}, fixes: map[string]int{}}
	of := func(all map[string]*score, name string) *score {
		if all[name] == nil {
			all[name] = &score{}
		}
		return all[name]
	}
	for _, t := range p.Trials {
		b.addMended(t)
		if t.Error != "" {
			b.Failed = append(b.Failed, []string{t.name(), t.Network, "", harness.Line(t.Error)})
		}
		for _, v := range t.Verdicts {
			verb, _, _ := strings.Cut(strings.TrimPrefix(v.Asked, "tare "), " ")
			of(b.Verbs, verb).add(t.Cause, v)
			if v.Error != "" {
				b.Failed = append(b.Failed, []string{t.name(), t.Network, "`" + v.Asked + "`", harness.Line(v.Error)})
			}
			if t.Cause == "" {
				b.addClean(t, v)
				continue
			}
			b.claims[v.first()]++
			wordings := &b.Others
			if p.firstWording(t) {
				wordings = &b.First
			}
			for _, s := range []*score{of(b.scores, t.Cause), &b.Total, wordings} {
				s.add(t.Cause, v)
			}
		}
	}
	return b
}

// addMended counts what carrying out a fix did.
func (b *scoreboard) addMended(t trial) {
	why, stays := strings.CutPrefix(t.Mended, notMended+": ")
	if stays {
		b.Stays = append(b.Stays, []string{t.name(), t.Network, harness.Line(why)})
	}
	for _, of := range []string{t.Cause, ""} {
		if t.Mended != "" {
			b.fixes[of]++
		}
		if t.Mended == mended {
			b.mends[of]++
		}
	}
}

// Mended is how many fixes of a cause fixed it; of none: of all.
func (b *scoreboard) Mended(cause string) string {
	return harness.Share(b.mends[cause], b.fixes[cause])
}

// addClean counts a verdict on a clean lab. What the network costs of itself
// may be named there.
func (b *scoreboard) addClean(t trial, v verdict) {
	v.Found = slices.DeleteFunc(slices.Clone(v.Found), func(id string) bool { return slices.Contains(ownCosts(t.Network), id) })
	b.Clean.add("", v)
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
	s.Asked++
	s.Seconds = append(s.Seconds, v.Seconds)
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
		s.First++
	}
	if slices.Contains(v.Found, expected) {
		s.Found++
	}
}

// firstWording reports whether a trial's wording is the first of its cause's.
func (p page) firstWording(t trial) bool {
	c, _ := result.First(p.Causes, func(c cause) bool { return c.ID == t.Cause })
	return c.Wordings[0].Name == t.Wording
}

// Of is the score of a cause; nil: it was not injected.
func (b *scoreboard) Of(c cause) *score { return b.scores[c.ID] }

// Precision is how many of the verdicts that named a cause first were right.
func (b *scoreboard) Precision(c cause) string {
	return harness.Share(b.scores[c.ID].First, b.claims[c.ID])
}

// Instead lists what was named first in place of the cause, the most frequent
// first.
func (s score) Instead(cause string) string {
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
		if !slices.ContainsFunc(ids, func(row string) bool { return b.scores[row] != nil && b.scores[row].named[id] > 0 }) {
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
		if b.scores[id] == nil {
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
		names = append(names, string(at))
	}
	return strings.Join(names, ", ")
}

// Indented is the script with the margin of a page.
func (s step) Indented() string { return "     " + strings.ReplaceAll(s.Script, "\n", "\n     ") }
