package traffic

import (
	"math"
	"slices"
	"time"
)

// Trips are the percentiles of the round trips that were due in one step of a window.
type Trips struct {
	P50, P90 time.Duration // by nearest rank; a step of 100 ms has 100 of ProbeRate
}

// trip is one round trip: when it was due, and how long it took from then on.
type trip struct{ due, took time.Duration }

// tripLog keeps the round trips of an open loop one by one. A nil log keeps nothing.
type tripLog struct{ all []trip }

// newTripLog makes a log with room for all that is due in a window, so that it allocates
// nothing inside.
func newTripLog(w Window, rate float64) *tripLog {
	return &tripLog{make([]trip, 0, int(rate*(w.Duration+w.Interval).Seconds())+1)}
}

func (l *tripLog) add(due, took time.Duration) {
	if l != nil {
		l.all = append(l.all, trip{due, took})
	}
}

// steps divides the trips among the whole steps of a window that opened at a time, by when
// they were due: one that was stuck belongs to when it was asked for. nil: no steps were
// asked for.
func (l *tripLog) steps(w Window, opened time.Duration) []Trips {
	if l == nil || w.Interval == 0 {
		return nil
	}
	took := make([][]time.Duration, w.Duration/w.Interval)
	for _, t := range l.all {
		if step := int((t.due - opened) / w.Interval); t.due >= opened && step < len(took) {
			took[step] = append(took[step], t.took)
		}
	}
	steps := make([]Trips, 0, len(took))
	for _, each := range took {
		if len(each) == 0 {
			break // the window ended early
		}
		slices.Sort(each)
		steps = append(steps, Trips{P50: nearestRank(each, 0.5), P90: nearestRank(each, 0.9)})
	}
	return steps
}

// nearestRank is a quantile of sorted values, at least one.
func nearestRank(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(math.Ceil(q*float64(len(sorted))))-1]
}
