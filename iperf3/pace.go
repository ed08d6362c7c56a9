package iperf3

import "time"

const (
	// A paced sender that was held up makes up for as much as this; the rest is
	// given up. It is a burst that a socket's default buffer holds. iperf3
	// catches up on all that it missed since the start.
	forgivenBytes = 64 << 10
	forgivenLeast = time.Millisecond
	forgivenMost  = 10 * time.Millisecond
	// pacingTimer is how often iperf3 looks whether it is behind.
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
	s := &pace{burst: max(int64(p.Burst), 1)}
	if p.Bandwidth > 0 {
		s.slot = float64(p.Len) * 8 / float64(p.Bandwidth) * float64(time.Second)
		s.forgive = time.Duration(min(forgivenBytes*8/float64(p.Bandwidth)*float64(time.Second), float64(forgivenMost)))
		s.forgive = max(s.forgive, forgivenLeast, min(time.Duration(p.PacingTimer), 1e6)*time.Microsecond)
	}
	return s
}

// next returns how long after now the next block is due. Zero: it is due, and
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
