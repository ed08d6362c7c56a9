package experiment

import (
	"fmt"
	"time"

	"tare/result"
)

// From these a machine was suspended, and its clock was set: less is how the clocks are read, and
// how a clock is steered.
const (
	leastSuspension = 100 * time.Millisecond
	leastSetting    = 2 * time.Second
)

// noted writes down of a round how long it took, and what its clocks show of the time since the round before.
func noted(r *result.Round, from, last, at instant) {
	r.Took = result.Seconds((at.boot - from.boot).Seconds())
	if suspended := (at.boot - at.mono) - (last.boot - last.mono); suspended >= leastSuspension {
		r.Suspended = result.Seconds(suspended.Seconds())
	}
	set := at.wall.Round(0).Sub(last.wall.Round(0)) - (at.boot - last.boot)
	if set >= leastSetting || set <= -leastSetting {
		r.ClockSet = result.Seconds(set.Round(time.Millisecond).Seconds())
	}
}

// disturbances are the warnings on a round.
func disturbances(r *result.Round) (texts []string) {
	if r.Took > r.Every {
		texts = append(texts, fmt.Sprintf("round: it took %.1f s, longer than the %.1f s from one round to the next: choose a longer --every, or fewer cells", float64(r.Took), float64(r.Every)))
	}
	if r.Suspended > 0 {
		texts = append(texts, fmt.Sprintf("suspended: the machine was suspended for %.1f s before or in this round", float64(r.Suspended)))
	}
	if r.ClockSet != 0 {
		texts = append(texts, fmt.Sprintf("clock: somebody set the machine's clock by %+.1f s before or in this round", float64(r.ClockSet)))
	}
	return texts
}
