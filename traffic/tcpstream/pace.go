package tcpstream

import (
	"time"

	"tare/traffic"
)

const (
	// leastRate is one byte a second, in bit/s.
	leastRate = 8
	// paceWrite is the longest time whose data one write of a paced flow holds.
	paceWrite = 10 * time.Millisecond
	// paceBurst is how late a write may be sent: what a stall held up longer is
	// given up, so that it never turns into a flood.
	paceBurst = 5 * time.Millisecond
)

// blockBytes is the size of one write.
func (s Options) blockBytes() int {
	if s.Rate == 0 {
		return s.WriteBytes
	}
	share := float64(s.Rate) / float64(s.Flows) / 8 * paceWrite.Seconds()
	return int(min(max(share, 1), float64(s.WriteBytes)))
}

// paces are those of all flows of a sender, at even distances.
func (s Options) paces() []pace {
	paces := make([]pace, s.Flows)
	if s.Rate == 0 {
		return paces
	}
	for i := range paces {
		slot := float64(s.blockBytes()) * 8 * float64(s.Flows) / float64(s.Rate) * float64(time.Second)
		paces[i] = pace{slot: slot, start: traffic.Unset, lag: slot * float64(i) / float64(s.Flows)}
	}
	return paces
}

// pace is an absolute schedule: write k is due at start + lag + k slots,
// whatever happened to those before it. The zero pace is always due.
type pace struct {
	slot    float64 // nanoseconds; no time.Duration, since a fraction of one adds up
	lag     float64
	start   time.Duration
	index   int64 // of the next slot
	skipped int64
	_       [64]byte
}

// due waits for the next slot, a tick at most, and reports whether it has come.
func (p *pace) due(r *traffic.Run) bool {
	if p.slot == 0 {
		return true
	}
	now := r.Now()
	if p.start == traffic.Unset {
		p.start = now
	}
	if wait := p.until(now); wait > 0 {
		traffic.Sleep(wait)
		now = r.Now()
	}
	return p.take(now)
}

// until is how long it is until the next slot.
func (p *pace) until(now time.Duration) time.Duration {
	return p.start + time.Duration(p.lag+float64(p.index)*p.slot) - now
}

// take takes the next slot if its time has come, and gives up those before it
// that are too late.
func (p *pace) take(now time.Duration) bool {
	late := -p.until(now)
	if late < 0 {
		return false
	}
	if missed := int64(float64(late-paceBurst) / p.slot); missed > 0 {
		p.index += missed
		p.skipped += missed
	}
	p.index++
	return true
}
