package traffic

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Above is how many durations are in buckets beyond one, for tests outside of the package.
func (h *Histogram) Above(d time.Duration) (n int64) {
	for i, count := range h.buckets {
		if middleOf(i) > d {
			n += int64(count)
		}
	}
	return n
}

// Soon is a timetable for runs that are about to be started.
func Soon(t *testing.T, runs, cycles int) Slots {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Fatal(err)
	}
	return Slots{
		Begin: time.Duration(now.Nano()) + 100*time.Millisecond, Window: 50 * time.Millisecond, Length: 10 * time.Millisecond, Settle: time.Millisecond, Guard: time.Millisecond,
		Runs: runs, Warmup: 1, Cycles: cycles, Seed: 1,
	}
}
