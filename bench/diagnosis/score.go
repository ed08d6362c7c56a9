package main

import (
	"maps"
	"slices"
	"strings"
)

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

// scoreboard holds the scores by cause, in the order of the list.
type scoreboard struct {
	causes    []string
	scores    map[string]score
	byWording [2]score       // of the first wordings, and of all others
	claims    map[string]int // verdicts that named a cause first, clean labs included
	clean     score          // of clean labs: first counts those that named nothing
	mends     map[string]int // injections whose symptom ended with the fix, by cause
	fixes     map[string]int // injections whose fix was carried out, by cause
	alarms    []alarm
}

// alarm is what was named in a clean lab.
type alarm struct {
	network, path, asked string
	found                []string
}

// count adds up the trials.
func count(trials []trial) scoreboard {
	b := scoreboard{scores: map[string]score{}, claims: map[string]int{}, mends: map[string]int{}, fixes: map[string]int{}}
	for _, c := range all() {
		b.causes = append(b.causes, c.id)
	}
	for _, t := range trials {
		if t.Mended != "" {
			b.fixes[t.Cause]++
		}
		if t.Mended == mended {
			b.mends[t.Cause]++
		}
		for _, v := range t.Verdicts {
			if t.Cause == "" {
				b.addClean(t, v)
				continue
			}
			b.claims[v.first()]++
			s := b.scores[t.Cause]
			s.add(t.Cause, v)
			b.scores[t.Cause] = s
			b.byWording[min(1, wordingIndex(t))].add(t.Cause, v)
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
		b.alarms = append(b.alarms, alarm{t.Network, t.Path, v.Asked, v.Found})
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
func wordingIndex(t trial) int {
	for _, c := range all() {
		if c.id == t.Cause {
			return slices.IndexFunc(c.wordings, func(w wording) bool { return w.name == t.Wording })
		}
	}
	return -1
}

// total adds up all injections.
func (b scoreboard) total() score {
	var sum score
	for _, s := range b.scores {
		sum.asked += s.asked
		sum.first += s.first
		sum.found += s.found
		sum.seconds = append(sum.seconds, s.seconds...)
	}
	return sum
}

// instead lists what was named first in place of the cause, the most frequent
// first.
func (s score) instead(cause string) string {
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(s.named)), func(id string) bool { return id == cause })
	slices.SortStableFunc(others, func(a, b string) int { return s.named[b] - s.named[a] })
	for n, id := range others {
		others[n] = id + times(s.named[id])
	}
	return strings.Join(others, ", ")
}
