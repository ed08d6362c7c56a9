package traffic

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"
)

// Timetable is a window as the data threads of one end share it.
type Timetable struct {
	Window
	absent   atomic.Int32 // threads that have passed no data yet
	opens    atomic.Int64 // time.Duration on the run's clock; unset before
	opened   atomic.Int64 // when the first thread did open its window; unset before
	called   [2]atomic.Bool
	returned atomic.Bool // the call for the opening has returned
}

// Unset is a time that is not known yet.
const Unset = math.MaxInt64

// NewTimetable is for a window of so many threads: it opens once all of them have passed data.
func NewTimetable(w Window, threads int) *Timetable {
	t := &Timetable{Window: w}
	t.absent.Store(int32(threads))
	t.opens.Store(Unset)
	t.opened.Store(Unset)
	return t
}

// arrive counts one more thread that has passed its first data at now.
func (t *Timetable) arrive(now time.Duration) {
	if t.absent.Add(-1) == 0 {
		t.opens.Store(int64(now + t.Warmup))
	}
}

// call reports an edge to the window's owner, once for all threads and one edge
// after the other.
func (t *Timetable) call(e Edge) {
	if t.Edge == nil || !t.called[e].CompareAndSwap(false, true) {
		return
	}
	for e == Closing && !t.returned.Load() { // another thread is still in it
		Sleep(Tick / 100)
	}
	t.Edge(e)
	if e == Opening {
		t.returned.Store(true)
	}
}

// Phase is where a thread is in its window.
type Phase int

// The phases, in their order.
const (
	Idle    Phase = iota // nothing passed yet
	Warming              // the window is still closed
	Open
	Paused // a slot has closed, and another follows
	Closed
)

// Meter counts what one data thread passes, and how much of it inside the
// window. Only that thread steps it; any thread may read the running total.
//
// The edges of the count are events, not instants of the clock: the count
// begins after the event that opens the window and ends with the one that
// closes it, and the elapsed time is that between these two. So the size of
// one event (64 KB and more with GRO) is no error at the edge. Nor is a queue
// that built up while the thread did not run: an edge waits until the thread
// has caught up. Where nothing passed around an edge, the count at the instant
// itself is known and is used.
type Meter struct {
	table    *Timetable
	phase    Phase
	opens    time.Duration
	closes   time.Duration
	noticed  time.Duration // when the thread first ran after the last edge
	from, to time.Duration
	base     int64
	counted  int64      // inside the window; valid once closed
	slots    *slotMeter // nil: all of the window counts
	sum      int64
	_        [64]byte
	total    atomic.Int64
	_        [64]byte
}

// NewMeter is for one thread of a timetable.
func NewMeter(t *Timetable) *Meter { return &Meter{table: t} }

// Event is the outcome of one call.
type Event struct {
	At   time.Duration
	N    int64 // units that passed; 0 if a wait ended without any
	More bool  // the call took all that it could, so more may be queued
}

// Step takes an event and reports whether it lies inside the window.
func (m *Meter) Step(e Event) bool {
	m.sum += e.N
	if e.N > 0 {
		m.total.Store(m.sum)
	}
	if m.slots != nil {
		return m.slots.step(m, e)
	}
	switch m.phase {
	case Idle:
		if e.N == 0 {
			return false
		}
		m.phase = Warming
		m.table.arrive(e.At)
		m.tryOpen(e)
	case Warming:
		m.tryOpen(e)
	case Open:
		m.tryClose(e)
		return true
	}
	return false
}

// Pass counts one unit inside the open window, as Step would. It gives false,
// and counts nothing, when Step must look at it: an edge may be there.
func (m *Meter) Pass(at time.Duration) bool {
	if m.phase != Open || at >= m.closes {
		return false
	}
	m.sum++
	m.total.Store(m.sum)
	return true
}

// AtEdge reports whether an edge of the window waits for an event.
func (m *Meter) AtEdge(now time.Duration) bool {
	switch m.phase {
	case Warming:
		return int64(now) >= m.table.opens.Load()
	case Open:
		return now >= m.closes
	}
	return false
}

// due reports whether an edge is at e: not before its time, and not while more
// is queued, unless the thread does not catch up within a tick.
func (m *Meter) due(e Event, edge time.Duration) bool {
	if e.At < edge {
		return false
	}
	if m.noticed < edge {
		m.noticed = e.At
	}
	return !e.More || e.At >= m.noticed+Tick
}

func (m *Meter) tryOpen(e Event) {
	m.opens = time.Duration(m.table.opens.Load())
	if m.opens == Unset || !m.due(e, m.opens) {
		return
	}
	m.phase = Open
	m.from, m.base = e.At, m.sum
	if e.N == 0 {
		m.from = m.opens
	}
	m.closes = m.from + m.table.Duration
	m.table.opened.CompareAndSwap(Unset, int64(m.from))
	m.table.call(Opening)
}

func (m *Meter) tryClose(e Event) {
	if !m.due(e, m.closes) {
		return
	}
	m.phase = Closed
	m.to, m.counted = e.At, m.sum-m.base
	if e.N == 0 {
		m.to = m.closes
	}
	m.table.call(Closing)
}

// Phase is where the thread is in its window or, with slots, between the first and the last of them.
func (m *Meter) Phase() Phase { return m.phase }

// Sum is how many units passed, in the window or not.
func (m *Meter) Sum() int64 { return m.sum }

// Total is Sum for other threads.
func (m *Meter) Total() int64 { return m.total.Load() }

// Since is how many units passed since the window, or the slot, opened.
func (m *Meter) Since() int64 { return m.sum - m.base }

// Counted is how many units passed inside the window, or all slots that count; valid once closed.
func (m *Meter) Counted() int64 { return m.counted }

// From is when the window opened, on the run's clock.
func (m *Meter) From() time.Duration { return m.from }

// To is when it closed; valid once it has.
func (m *Meter) To() time.Duration { return m.to }

// CloseBy brings the end of an open window forward to a time, which may have passed.
func (m *Meter) CloseBy(at time.Duration) { m.closes = min(m.closes, max(m.from, at)) }

// Opened is when the window, or the slot, that is open now opened; Unset: none is.
func (m *Meter) Opened() time.Duration {
	if m.phase != Open {
		return Unset
	}
	return m.from
}

// Elapsed is the time between the two edges of the count, or of those of all slots.
func (m *Meter) Elapsed() time.Duration {
	if m.slots != nil {
		return m.slots.elapsed
	}
	return m.to - m.from
}

// Sampler takes the series of a window on its own thread.
type Sampler struct {
	points []Point
	over   atomic.Bool
	done   chan struct{}
}

// StartSampler samples the totals of the meters of one window at each of its intervals.
func StartSampler(r *Run, meters ...*Meter) *Sampler {
	s, t := &Sampler{points: []Point{}, done: make(chan struct{})}, meters[0].table
	if t.Interval == 0 {
		close(s.done)
		return s
	}
	s.points = make([]Point, 0, t.Duration/t.Interval+2)
	go func() {
		defer close(s.done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		s.sample(r, t, meters)
	}()
	return s
}

func (s *Sampler) sample(r *Run, t *Timetable, meters []*Meter) {
	for t.opened.Load() == Unset {
		if s.over.Load() || r.Stopped() {
			return
		}
		Sleep(min(max(time.Duration(t.opens.Load())-r.Now(), Tick/50), Tick/10))
	}
	opened := time.Duration(t.opened.Load())
	var first int64
	for at := time.Duration(0); at <= t.Duration; at += t.Interval {
		for now := r.Now(); now < opened+at; now = r.Now() {
			if s.over.Load() || r.Stopped() {
				return
			}
			Sleep(opened + at - now)
		}
		var sum int64
		for _, m := range meters {
			sum += m.Total()
		}
		if at == 0 {
			first = sum
		}
		s.points = append(s.points, Point{At: r.Now() - opened, Count: sum - first})
	}
}

// Finish ends the sampling and gives the series, which is empty when none was
// asked for.
func (s *Sampler) Finish() []Point {
	s.over.Store(true)
	<-s.done
	return s.points
}

// ElapsedOf is the time over which all meters together had the sum of their
// rates. Their windows differ by a tick at most.
func ElapsedOf(meters []*Meter) time.Duration {
	if len(meters) == 1 {
		return meters[0].Elapsed()
	}
	var count, rate, longest float64
	for _, m := range meters {
		longest = max(longest, float64(m.Elapsed()))
		if m.counted > 0 {
			count += float64(m.counted)
			rate += float64(m.counted) / float64(m.Elapsed())
		}
	}
	if count == 0 {
		return time.Duration(longest)
	}
	return time.Duration(count / rate)
}
