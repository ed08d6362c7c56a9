package traffic

import "time"

// slotMeter keeps, for a meter, what each slot counted. As with a window, the
// edges of the count are events, and the elapsed time is that between them.
type slotMeter struct {
	*turns
	kept    []Slot
	elapsed time.Duration // of those
	first   Slot          // of the slot under way, the part up to its middle
	inTime  bool          // the slot under way
	owns    bool          // the edges of its slots are those of the run's

	ended    bool       // a slot has closed, and what it recorded is not kept yet
	counts   *Slot      // that slot; nil where it does not count
	recorded *Histogram // of the slot under way; nil: nothing is recorded
	all      *Histogram // of all slots that count
}

// countSlots makes a meter count by slots; one of a run's meters owns its edges.
// Without a timetable it changes nothing. What the run records goes to recorded, and
// is moved to all with each slot that counts.
func (m *meter) countSlots(t *turns, owns bool, recorded, all *Histogram) {
	if t != nil {
		m.slots = &slotMeter{turns: t, kept: make([]Slot, t.Cycles), owns: owns && m.table.Edge != nil, recorded: recorded, all: all}
		m.phase = paused
	}
}

// opening calls the window's owner where the slot counts, and gives the time when that
// has returned: what it takes is no part of the slot.
func (s *slotMeter) opening(m *meter, at time.Duration) time.Duration {
	if !s.owns || s.next <= s.Warmup {
		return at
	}
	m.table.Edge(Opening)
	return s.now()
}

// step takes an event, whose count is in m.sum already, and reports whether it
// lies inside a slot. One that comes long after a slot has closed is no part of it.
func (s *slotMeter) step(m *meter, e event) (inside bool) {
	s.keep()
	for m.phase == open && e.at >= s.closes+s.Guard || m.phase == paused && e.at >= s.closes {
		s.close(m, s.closes, m.sum-e.n)
		s.keep()
	}
	switch {
	case m.phase == paused && e.at >= s.opens:
		s.first, s.inTime = Slot{}, e.at <= s.opens+s.Length/8
		m.phase, m.from, m.base, m.closes = open, s.opening(m, e.at), m.sum, s.middle()
	case m.phase == open:
		if s.first.Elapsed == 0 && e.at >= s.middle() {
			s.first = Slot{Count: m.sum - m.base, Elapsed: e.at - m.from}
			m.closes = s.closes
		}
		if e.at >= s.closes && s.close(m, e.at, m.sum) && s.owns {
			m.table.Edge(Closing)
		}
		return true
	}
	return false
}

// atRest reports whether the run sends nothing until its next slot begins.
func (m *meter) atRest(now time.Duration) bool {
	return m.slots != nil && now < m.slots.from
}

// endSlots closes the last slot where it is over, or nearly: its sender has ended.
func (m *meter) endSlots(now time.Duration) bool {
	if m.slots == nil || m.slots.next < m.slots.Warmup+m.slots.Cycles || now < m.slots.closes-m.slots.Guard {
		return false
	}
	m.step(event{at: max(now, m.slots.closes)})
	return m.phase == closed
}

// keepSlot keeps what a slot that has closed recorded, where the run has the time for
// it: the next event would.
func (m *meter) keepSlot() {
	if m.slots != nil {
		m.slots.keep()
	}
}

// keep moves what the slot that has closed recorded to that of all slots. What a slot
// that does not count recorded is forgotten.
func (s *slotMeter) keep() {
	if !s.ended {
		return
	}
	s.ended = false
	if s.recorded == nil {
		return
	}
	if s.counts != nil {
		s.counts.Median, _ = s.recorded.Median()
		s.all.Merge(s.recorded)
	}
	s.recorded.Reset()
}

// addSlots adds what a meter counted in each slot to what others did. A slot that one
// of them lost is lost.
func addSlots(sum []Slot, m *meter) []Slot {
	if m.slots == nil {
		return nil
	}
	if sum == nil {
		return m.slots.kept
	}
	for i, s := range m.slots.kept {
		if sum[i].Elapsed == 0 || s.Elapsed == 0 {
			sum[i] = Slot{}
			continue
		}
		sum[i].Median = (sum[i].Median*time.Duration(sum[i].Count) + s.Median*time.Duration(s.Count)) / time.Duration(max(sum[i].Count+s.Count, 1))
		sum[i].Count += s.Count
		sum[i].Elapsed = max(sum[i].Elapsed, s.Elapsed)
		sum[i].FirstCount += s.FirstCount
		sum[i].FirstElapsed = max(sum[i].FirstElapsed, s.FirstElapsed)
	}
	return sum
}

// middle is when half of what counts of the slot is over.
func (s *slotMeter) middle() time.Duration { return s.opens + (s.closes-s.opens)/2 }

// close ends the slot with what was passed until then, and goes to the next. It
// reports whether the slot counts.
func (s *slotMeter) close(m *meter, at time.Duration, sum int64) bool {
	s.ended, s.counts = true, nil
	if n := s.next - 1 - s.Warmup; n >= 0 && m.phase == open && s.inTime && sum > m.base {
		s.counts = &s.kept[n]
		*s.counts = Slot{Count: sum - m.base, Elapsed: at - m.from, FirstCount: s.first.Count, FirstElapsed: s.first.Elapsed}
		m.counted += s.counts.Count
		s.elapsed += s.counts.Elapsed
	}
	m.phase = paused
	if !s.advance() {
		m.phase = closed
	}
	return s.counts != nil
}
