package schedule

import "time"

// shareOver is the time over which what a run sends is averaged: within it, it sends as fast
// as it goes.
const shareOver = 10 * time.Second

// Share keeps what a run sends between machines that others use too to a rate: a bucket that
// fills at that rate, up to what it gives in shareOver.
type Share struct {
	rate   float64 // bit/s; 0: as much as it can
	room   float64 // bits that may be sent at once; below 0: too many were
	filled time.Time
}

// NewShare is a share of which nothing is spent. rate is in bit/s; 0: there is no bound.
func NewShare(rate float64, now time.Time) *Share {
	return &Share{rate: rate, room: rate * shareOver.Seconds(), filled: now}
}

// Spend takes what was sent, in bits.
func (s *Share) Spend(bits float64, now time.Time) {
	s.room = min(s.rate*shareOver.Seconds(), s.room+s.rate*now.Sub(s.filled).Seconds()) - bits
	s.filled = now
}

// Pause is how long nothing may be sent.
func (s *Share) Pause(now time.Time) time.Duration {
	s.Spend(0, now)
	if s.rate == 0 || s.room >= 0 {
		return 0
	}
	return time.Duration(-s.room / s.rate * float64(time.Second))
}
