package traffic

import "time"

// slotMeter keeps, for a meter, what each slot counted. As with a window, the
// edges of the count are events, and the elapsed time is that between them.
type slotMeter struct {
	*Turns
	kept    []Slot        // those that count
	elapsed time.Duration // of all kept slots together
	window  Slot          // that the run had before its slots
	first   Slot          // of the slot under way, the part up to its middle
	inTime  bool          // the slot under way
	owns    bool          // the edges of its slots are those of the run's

	ended    bool       // a slot has closed, and what it recorded is not kept yet
	counts   *Slot      // that slot; nil where it does not count
	recorded *Histogram // of the slot under way; nil: nothing is recorded
	all      *Histogram // of all slots that count
}

// CountSlots makes a meter count by slots; one of a run's meters owns its edges.
// Without a timetable it changes nothing. What the run records goes to recorded, and
// is moved to all with each slot that counts.
func (m *Meter) CountSlots(t *Turns, owns bool, recorded, all *Histogram) {
	if t != nil {
		m.slots = &slotMeter{Turns: t, kept: make([]Slot, t.Cycles), owns: owns && m.table.Edge != nil, recorded: recorded, all: all}
		m.phase = Paused
	}
}

// edged reports whether the turn's edges are those of a window: of the one before the
// slots or, where there is none, of each slot that counts.
func (s *slotMeter) edged() bool {
	return s.owns && s.inTime && (s.turn == window || s.Window == 0 && s.turn >= s.Warmup)
}

// opening calls the window's owner, and gives the time when that has returned: what it
// takes is no part of the turn.
func (s *slotMeter) opening(m *Meter, at time.Duration) time.Duration {
	if !s.edged() {
		return at
	}
	m.table.Edge(Opening)
	return s.now()
}

// step takes an event, whose count is in m.sum already, and reports whether it
// lies inside a slot. One that comes long after a slot has closed is no part of it.
func (s *slotMeter) step(m *Meter, e Event) (inside bool) {
	s.keep()
	for m.phase == Open && e.At >= s.closes+s.Guard || m.phase == Paused && e.At >= s.closes {
		if m.phase == Open && e.At < s.closes+s.late() && m.sum-e.N > m.base && s.edged() { // late, but no other has had its turn
			m.table.Edge(Closing)
		}
		s.close(m, s.closes, m.sum-e.N)
		s.keep()
	}
	switch {
	case m.phase == Paused && e.At >= s.opens:
		s.first, s.inTime = Slot{}, e.At <= s.opens+s.late()
		m.phase, m.from, m.base, m.closes = Open, s.opening(m, e.At), m.sum, s.middle()
	case m.phase == Open:
		if s.first.Elapsed == 0 && e.At >= s.middle() {
			s.first = Slot{Count: m.sum - m.base, Elapsed: e.At - m.from}
			m.closes = s.closes
		}
		if e.At >= s.closes {
			if m.sum > m.base && s.edged() {
				m.table.Edge(Closing)
			}
			s.close(m, e.At, m.sum)
		}
		return true
	}
	return false
}

// AwaitSlot waits, once the run has nothing under way, until it may send again: until its slot begins, where
// it has slots. It gives how long that took.
func (m *Meter) AwaitSlot(r *Run) time.Duration {
	now := r.Now()
	if !m.AtRest(now) {
		return 0
	}
	m.KeepSlot()
	m.slots.rest(r)
	return r.Now() - now
}

// SendsFrom is when the slot of the run's turn began or begins; 0: it has no slots, and may always send.
func (m *Meter) SendsFrom() time.Duration {
	if m.slots == nil {
		return 0
	}
	return m.slots.from
}

// AtRest reports whether the run sends nothing until its next slot begins.
func (m *Meter) AtRest(now time.Duration) bool {
	return m.slots != nil && now < m.slots.from
}

// EndSlots closes the last slot where it is over, or nearly: its sender has ended. Turns
// before it in which nothing came are over too.
func (m *Meter) EndSlots(now time.Duration) bool {
	if m.slots == nil {
		return false
	}
	if m.Step(Event{At: now}); m.phase != Closed {
		if !m.slots.last() || now < m.slots.closes-m.slots.Guard {
			return false
		}
		m.Step(Event{At: max(now, m.slots.closes)})
	}
	return m.phase == Closed
}

// KeepSlot keeps what a slot that has closed recorded, where the run has the time for
// it: the next event would.
func (m *Meter) KeepSlot() {
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

// Taken is what a run that takes turns counted in those it has taken.
type Taken struct {
	Slots  []Slot // one for each cycle that counts; nil: it takes no turns
	Window Slot   // zero: it had none, or it was late
}

// Add adds what a meter counted to what others did.
func (t *Taken) Add(m *Meter) {
	switch {
	case m.slots == nil:
	case t.Slots == nil:
		*t = Taken{m.slots.kept, m.slots.window}
	default:
		t.Window.add(m.slots.window)
		for i, s := range m.slots.kept {
			t.Slots[i].add(s)
		}
	}
}

// add adds what another flow counted in the slot. What one of them lost is lost.
func (s *Slot) add(o Slot) {
	if s.Elapsed == 0 || o.Elapsed == 0 {
		*s = Slot{}
		return
	}
	*s = Slot{
		Count: s.Count + o.Count, Elapsed: max(s.Elapsed, o.Elapsed),
		Median:     (s.Median*time.Duration(s.Count) + o.Median*time.Duration(o.Count)) / time.Duration(max(s.Count+o.Count, 1)),
		FirstCount: s.FirstCount + o.FirstCount, FirstElapsed: max(s.FirstElapsed, o.FirstElapsed),
	}
}

// late is from when on a turn began late.
func (s *slotMeter) late() time.Duration {
	if s.turn == window {
		return s.Window / 8
	}
	return s.Length / 8
}

// middle is when half of what counts of the slot is over.
func (s *slotMeter) middle() time.Duration { return s.opens + (s.closes-s.opens)/2 }

// close ends the slot, or the window, with what was passed until then, and goes to the
// next turn.
func (s *slotMeter) close(m *Meter, at time.Duration, sum int64) {
	s.ended, s.counts = true, nil
	if m.phase == Open && s.inTime && sum > m.base {
		counted := Slot{Count: sum - m.base, Elapsed: at - m.from, FirstCount: s.first.Count, FirstElapsed: s.first.Elapsed}
		switch {
		case s.turn == window:
			s.window = counted
		case s.turn >= s.Warmup:
			s.counts = &s.kept[s.turn-s.Warmup]
			*s.counts = counted
			m.counted += counted.Count
			s.elapsed += counted.Elapsed
		}
	}
	m.phase = Paused
	if !s.advance() {
		m.phase = Closed
	}
}
