package iperf3

import "time"

const (
	// pacingTimer is how much of a stall a paced sender makes up for, unless the
	// client says otherwise; the rest is given up. iperf3 looks at its rate as
	// often, but catches up on all since the start, in one burst.
	pacingTimer = time.Millisecond
	// shortest is the wait below which a sleep costs more than it saves.
	shortest = 10 * time.Microsecond
)

// pace is an absolute schedule: block k of a flow is due at start + k slots,
// whatever became of those before it.
type pace struct {
	slot    float64       // nanoseconds between two blocks; 0: no schedule
	burst   int64         // blocks that are due together
	forgive time.Duration // how late a block may be and still be sent

	started bool
	start   time.Duration
	index   int64 // of the next block
	skipped int64 // blocks given up
}

// newPace is the schedule of a flow with these parameters.
func newPace(p parameters) *pace {
	s := &pace{burst: max(int64(p.Burst), 1), forgive: pacingTimer}
	if p.PacingTimer > 0 {
		s.forgive = min(time.Duration(min(p.PacingTimer, 1e6))*time.Microsecond, time.Second)
	}
	if p.Bandwidth > 0 {
		s.slot = float64(p.Len) * 8 / float64(p.Bandwidth) * float64(time.Second)
	}
	return s
}

// next gives how long after now the next block is due. Zero: it is due, and
// counts as sent.
func (s *pace) next(now time.Duration) time.Duration {
	if s.slot == 0 {
		return 0
	}
	if !s.started {
		s.started, s.start = true, now
	}
	if s.index%s.burst == 0 {
		due := s.start + time.Duration(float64(s.index)*s.slot)
		if due > now {
			return due - now
		}
		if late := now - due - s.forgive; late > 0 {
			bursts := int64(float64(late) / s.slot / float64(s.burst))
			s.skipped += bursts * s.burst
			s.index += bursts * s.burst
		}
	}
	s.index++
	return 0
}
