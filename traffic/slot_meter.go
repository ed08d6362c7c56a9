package traffic

import "time"

// slotMeter keeps, for a meter, what each slot counted. As with a window, the
// edges of the count are events, and the elapsed time is that between them.
type slotMeter struct {
	*turns
	kept    []Slot
	elapsed time.Duration // of those
	first   Slot          // of the slot under way, the part up to its middle
	closed  *Slot         // the one that closed last; nil where it does not count
}

// countSlots makes a meter count by slots. Without a timetable it changes nothing.
func (m *meter) countSlots(t *turns) {
	if t != nil {
		m.slots, m.phase = &slotMeter{turns: t, kept: make([]Slot, t.Cycles)}, paused
	}
}

// step takes an event, whose count is in m.sum already, and reports whether it
// lies inside a slot. One that comes long after a slot has closed is no part of it.
func (s *slotMeter) step(m *meter, e event) (inside bool) {
	for m.phase == open && e.at >= s.closes+s.Guard || m.phase == paused && e.at >= s.closes {
		s.close(m, s.closes, m.sum-e.n)
	}
	switch {
	case m.phase == paused && e.at >= s.opens:
		s.first = Slot{}
		m.phase, m.from, m.base, m.closes = open, e.at, m.sum, s.middle()
	case m.phase == open:
		if s.first.Elapsed == 0 && e.at >= s.middle() {
			s.first = Slot{Count: m.sum - m.base, Elapsed: e.at - m.from}
			m.closes = s.closes
		}
		if e.at >= s.closes {
			s.close(m, e.at, m.sum)
		}
		return true
	}
	return false
}

// atRest reports whether the run sends nothing until its next slot begins.
func (m *meter) atRest(now time.Duration) bool {
	return m.slots != nil && now < m.slots.opens-m.slots.Guard
}

// endSlots closes the last slot where it is over, or nearly: its sender has ended.
func (m *meter) endSlots(now time.Duration) bool {
	if m.slots == nil || m.slots.next < m.slots.Warmup+m.slots.Cycles || now < m.slots.closes-m.slots.Guard {
		return false
	}
	m.step(event{at: max(now, m.slots.closes)})
	return m.phase == closed
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
		sum[i].Count += s.Count
		sum[i].Elapsed = max(sum[i].Elapsed, s.Elapsed)
		sum[i].FirstCount += s.FirstCount
		sum[i].FirstElapsed = max(sum[i].FirstElapsed, s.FirstElapsed)
		sum[i].Median = (sum[i].Median + s.Median) / 2
	}
	return sum
}

// middle is when half of what counts of the slot is over.
func (s *slotMeter) middle() time.Duration { return s.opens + (s.closes-s.opens)/2 }

// close ends the slot with what was passed until then, and goes to the next.
func (s *slotMeter) close(m *meter, at time.Duration, sum int64) {
	s.closed = nil
	inTime := m.phase == open && m.from <= s.opens+s.Length/8
	if n := s.next - 1 - s.Warmup; n >= 0 && inTime && sum > m.base {
		s.closed = &s.kept[n]
		*s.closed = Slot{Count: sum - m.base, Elapsed: at - m.from, FirstCount: s.first.Count, FirstElapsed: s.first.Elapsed}
		m.counted += s.closed.Count
		s.elapsed += s.closed.Elapsed
	}
	m.phase = paused
	if !s.advance() {
		m.phase = closed
	}
}
