package iperf3

import (
	"fmt"
	"time"
)

// stallStep is how often a test under way is looked after.
const stallStep = 500 * time.Millisecond

// stall detects a test on whose flows nothing passes any more.
type stall struct {
	limit time.Duration
	last  int64
	since time.Duration
	blind bool // a UDP sender always gets rid of its datagrams
}

// newStall watches a test with these parameters. Blocks that are due seldom
// may come seldom.
func newStall(p parameters, t *transfer) *stall {
	s := &stall{limit: patience, last: -1}
	if slot := newPace(p).slot; slot > 0 {
		s.limit += time.Duration(3 * slot * max(float64(p.Burst), 1))
	}
	for _, f := range t.flows {
		s.blind = s.blind || bool(p.UDP) && f.sends
	}
	return s
}

// check fails once nothing has passed for too long.
func (s *stall) check(t *transfer) error {
	now := t.now()
	moved := t.moved()
	if moved != s.last || s.blind {
		s.last, s.since = moved, now
	}
	if now-s.since > s.limit {
		return fmt.Errorf("nothing passed on any flow for %v, after %d bytes: see whether the path carries them (its MTU, a filter) and what the peer reported", s.limit, moved)
	}
	return nil
}
