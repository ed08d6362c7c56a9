package weigh

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tare/result"
	"tare/stats"
)

const (
	// mostBeside is how many results on each side of a change are read for what is otherwise since.
	mostBeside = 12
	// mostOfKind is how many of a kind are listed: more are counted.
	mostOfKind = 8
	// leastCounter is the ratio from which a counter moved otherwise than before.
	leastCounter = 1.2
)

// besideSide are the results on one side of a change, each whole while it is read.
type besideSide struct {
	rounds   int
	counters map[counterName][]float64 // by result, for each unit of work; the newest cell's
	facts    map[counterName][]string
	findings map[string]int // how many results have it
	causes   map[string]string
}

// counterName is a counter or a fact: where, by which source and what.
type counterName struct{ at, source, name string }

// beside adds what is otherwise since a change.
func (s *trending) beside(c *result.TrendChange, st step) error {
	before, err := s.readSide(st.before[max(0, len(st.before)-mostBeside):], st)
	if err != nil {
		return err
	}
	after, err := s.readSide(st.after[:min(len(st.after), mostBeside)], st)
	if err != nil {
		return err
	}
	last, now := s.points[st.before[len(st.before)-1]].res, s.points[st.At].res
	for _, d := range machines(last, now) {
		c.Beside = append(c.Beside, result.TrendBeside{Kind: result.BesideFact, Name: d.Name, Old: d.Old, New: d.New})
	}
	c.Beside = append(c.Beside, soakBetween(last, now)...)
	c.Beside = append(c.Beside, s.logged(c, st)...)
	c.Beside = append(c.Beside, findingsThat(before, after)...)
	c.Beside = append(c.Beside, factsThat(before, after)...)
	c.Beside = append(c.Beside, countersThat(before, after)...)
	return nil
}

// readSide reads the results on one side of a change.
func (s *trending) readSide(at []int, st step) (besideSide, error) {
	side := besideSide{rounds: len(at), counters: map[counterName][]float64{}, facts: map[counterName][]string{}, findings: map[string]int{}, causes: map[string]string{}}
	for n, point := range at {
		res, err := s.read(s.points[point].file)
		if err != nil {
			return side, err
		}
		side.addFindings(res)
		side.addFacts(res)
		if c := matches(res, s.newest())[st.newest]; c != nil {
			side.addCounters(c, n)
		}
	}
	return side, nil
}

// addCounters adds what was counted while a cell was measured, for each unit of its work.
func (b *besideSide) addCounters(c *result.Cell, n int) {
	work, sums := 0.0, map[counterName]float64{}
	for _, sample := range c.Samples {
		work += cmp.Or(sample.Counters["work"], sample.Counters["window"])
		for _, reading := range sample.Readings {
			if reading.End != "" {
				continue // a process of tare's own
			}
			for name, value := range reading.Counts {
				sums[counterName{reading.At, reading.Source, name}] += value
			}
		}
	}
	if work <= 0 {
		return
	}
	for name, sum := range sums {
		if b.counters[name] == nil {
			b.counters[name] = make([]float64, b.rounds) // one that did not move is left out of a result
		}
		b.counters[name][n] = sum / work
	}
}

func (b *besideSide) addFindings(res *result.Result) {
	here := map[string]bool{}
	add := func(f result.Finding) {
		here[f.ID] = true
		b.causes[f.ID] = f.Cause
	}
	for _, f := range res.Findings {
		add(f)
	}
	for _, c := range res.Cells {
		for _, f := range c.Findings {
			add(f)
		}
	}
	for id := range here {
		b.findings[id]++
	}
}

// addFacts adds settings and states, but for tables whose entries come and go, and for quantities.
func (b *besideSide) addFacts(res *result.Result) {
	states := res.States
	if res.Round != nil {
		states = slices.Concat(states, res.Round.States)
	}
	for _, state := range states {
		switch state.Source {
		case "ip neighbour", "bridge fdb", "/proc/meminfo":
			continue
		}
		for name, value := range state.Values {
			key := counterName{state.At, state.Source, name}
			b.facts[key] = append(b.facts[key], fmt.Sprint(value))
		}
	}
}

// constant is what a fact is in all results of a side; ok is false where it differs among them. One that
// none has is absent.
func (b besideSide) constant(key counterName) (value string, ok bool) {
	values := b.facts[key]
	if len(values) == 0 {
		return "", true
	}
	differ := slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
	return values[0], len(values) == b.rounds && !differ
}

// findingsThat came or went: those of most results on one side, and of few on the other.
func findingsThat(before, after besideSide) (all []result.TrendBeside) {
	most := func(b besideSide, id string) bool { return 2*b.findings[id] > b.rounds }
	for _, id := range keysOf(before.causes, after.causes) {
		switch was, is := most(before, id), most(after, id); {
		case is && !was:
			all = append(all, result.TrendBeside{Kind: result.BesideCame, Name: id, New: after.causes[id]})
		case was && !is:
			all = append(all, result.TrendBeside{Kind: result.BesideWent, Name: id, Old: before.causes[id]})
		}
	}
	return all
}

// factsThat are one thing in all results before, and another in all after.
func factsThat(before, after besideSide) (all []result.TrendBeside) {
	for _, key := range namesOf(before.facts, after.facts) {
		was, steady := before.constant(key)
		is, still := after.constant(key)
		if steady && still && was != is {
			all = append(all, result.TrendBeside{Kind: result.BesideFact, At: key.at, Source: key.source, Name: key.name, Old: was, New: is})
		}
	}
	return fewOf(all, 0)
}

// countersThat moved otherwise than before, for each unit of work: by the rank-sum test, with a chance that
// is divided among all counters. Those that differ most come first.
func countersThat(before, after besideSide) []result.TrendBeside {
	type moved struct {
		result.TrendBeside
		by float64
	}
	var found []moved
	names := namesOf(before.counters, after.counters)
	for _, key := range names {
		x, y := before.counters[key], after.counters[key]
		if x == nil {
			x = make([]float64, before.rounds)
		}
		if y == nil {
			y = make([]float64, after.rounds)
		}
		a, b := stats.Median(x), stats.Median(y)
		by := math.Abs(math.Log(b / a)) // infinite where it was zero
		if !(by >= math.Log(leastCounter)) || stats.RankSumChance(x, y) > trendRate/float64(len(names)) {
			continue
		}
		found = append(found, moved{result.TrendBeside{
			Kind: result.BesideCounter, At: key.at, Source: key.source, Name: key.name, Old: figure(a), New: figure(b),
		}, by})
	}
	slices.SortStableFunc(found, func(a, b moved) int { return cmp.Compare(b.by, a.by) })
	var all []result.TrendBeside
	for _, one := range found {
		all = append(all, one.TrendBeside)
	}
	return fewOf(all, 0)
}

// figure is a count for each unit of work.
func figure(v float64) string { return fmt.Sprintf("%.3g", v) }

// fewOf lists some, and counts the rest and as many more.
func fewOf(all []result.TrendBeside, more int) []result.TrendBeside {
	few := all[:min(len(all), mostOfKind):min(len(all), mostOfKind)]
	if more += len(all) - len(few); more > 0 && len(few) > 0 {
		few = append(few, result.TrendBeside{Kind: few[0].Kind, Name: fmt.Sprintf("%d more", more)})
	}
	return few
}

// logged is what the kernel logged between the last round before a change and the end of the first after it.
func (s *trending) logged(c *result.TrendChange, st step) (all []result.TrendBeside) {
	more := 0 // lines that the rounds left out
	for at := st.before[len(st.before)-1] + 1; at <= st.At; at++ {
		r := s.points[at].res.Round
		if r == nil {
			continue
		}
		if r.Log.Unread != "" {
			c.Unread = result.AddOnce(c.Unread, r.Log.Unread)
		}
		lines := slices.Clone(r.Log.Lines)
		slices.SortStableFunc(lines, func(a, b result.LogLine) int { return cmp.Compare(a.Level, b.Level) }) // the gravest first
		for _, line := range lines {
			if slices.ContainsFunc(all, func(b result.TrendBeside) bool { return b.Name == line.Text }) {
				continue // it is there already
			}
			all = append(all, result.TrendBeside{Kind: result.BesideLog, At: line.At, Name: line.Text})
		}
		more += r.Log.More
	}
	return fewOf(all, more)
}

// soakBetween is what happened to a soak between two rounds.
func soakBetween(last, now *result.Result) (all []result.TrendBeside) {
	add := func(text string) { all = append(all, result.TrendBeside{Kind: result.BesideSoak, Name: text}) }
	if last.Round == nil || now.Round == nil {
		return nil
	}
	switch {
	case last.Round.Boot != now.Round.Boot:
		add("the machine was started again")
	case last.Round.Lab != now.Round.Lab:
		add("the lab was built again")
	}
	for _, note := range notesOf(now) {
		add(note)
	}
	return all
}

func keysOf[V any](maps ...map[string]V) (names []string) {
	for _, m := range maps {
		for name := range m {
			names = result.AddOnce(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// namesOf are the keys of both, in order.
func namesOf[V any](a, b map[counterName]V) []counterName {
	all := map[counterName]bool{}
	for key := range a {
		all[key] = true
	}
	for key := range b {
		all[key] = true
	}
	var names []counterName
	for key := range all {
		names = append(names, key)
	}
	slices.SortFunc(names, func(a, b counterName) int {
		return cmp.Or(strings.Compare(a.at, b.at), strings.Compare(a.source, b.source), strings.Compare(a.name, b.name))
	})
	return names
}
