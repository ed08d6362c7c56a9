package traffic

import (
	"testing"
	"time"

	"tare/test/labtest"
)

// A request belongs to the step in which it was due, however late its response is.
func TestTripsBelongToWhenTheyWereDue(t *testing.T) {
	const ms = time.Millisecond
	w := Window{Duration: 35 * ms, Interval: 10 * ms}
	l := newTripLog(w, 1000)
	for n := range 35 {
		took := time.Duration(n) * time.Microsecond
		if n == 12 {
			took = 20 * ms
		}
		l.add(5*ms+time.Duration(n)*ms, took)
	}
	steps := l.steps(w, 5*ms)
	labtest.Equal(t, "whole steps", len(steps), 3)
	labtest.Equal(t, "p50 of the first", steps[0].P50, 4*time.Microsecond)
	labtest.Equal(t, "p90 of the first", steps[0].P90, 8*time.Microsecond)
	labtest.Equal(t, "p90 of the second", steps[1].P90, 19*time.Microsecond)
	l.add(16*ms, 30*ms)
	labtest.Equal(t, "p90 with two late", l.steps(w, 5*ms)[1].P90, 20*ms)
	labtest.Equal(t, "before the window", len((&tripLog{[]trip{{due: ms}}}).steps(w, 5*ms)), 0)
	if (*tripLog)(nil).steps(w, 0) != nil {
		t.Error("a log that keeps nothing has steps")
	}
}
