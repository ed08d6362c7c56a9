package traffic

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"
)

// timetable is a window as the data threads of one end share it.
type timetable struct {
	Window
	absent   atomic.Int32 // threads that have passed no data yet
	opens    atomic.Int64 // time.Duration on the run's clock; unset before
	opened   atomic.Int64 // when the first thread did open its window; unset before
	called   [2]atomic.Bool
	returned atomic.Bool // the call for the opening has returned
}

const unset = math.MaxInt64

func newTimetable(w Window, threads int) *timetable {
	t := &timetable{Window: w}
	t.absent.Store(int32(threads))
	t.opens.Store(unset)
	t.opened.Store(unset)
	return t
}

// arrive counts one more thread that has passed its first data at now.
func (t *timetable) arrive(now time.Duration) {
	if t.absent.Add(-1) == 0 {
		t.opens.Store(int64(now + t.Warmup))
	}
}

// call reports an edge to the window's owner, once for all threads and one edge
// after the other.
func (t *timetable) call(e Edge) {
	if t.Edge == nil || !t.called[e].CompareAndSwap(false, true) {
		return
	}
	for e == Closing && !t.returned.Load() { // another thread is still in it
		sleep(tick / 100)
	}
	t.Edge(e)
	if e == Opening {
		t.returned.Store(true)
	}
}

type phase int

const (
	idle    phase = iota // nothing passed yet
	warming              // the window is still closed
	open
	paused // a slot has closed, and another follows
	closed
)

// meter counts what one data thread passes, and how much of it inside the
// window. Only that thread steps it; any thread may read the running total.
//
// The edges of the count are events, not instants of the clock: the count
// begins after the event that opens the window and ends with the one that
// closes it, and the elapsed time is that between these two. So the size of
// one event (64 KB and more with GRO) is no error at the edge. Nor is a queue
// that built up while the thread did not run: an edge waits until the thread
// has caught up. Where nothing passed around an edge, the count at the instant
// itself is known and is used.
type meter struct {
	table    *timetable
	phase    phase
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

func newMeter(t *timetable) *meter { return &meter{table: t} }

// event is the outcome of one call.
type event struct {
	at   time.Duration
	n    int64 // units that passed; 0 if a wait ended without any
	more bool  // the call took all that it could, so more may be queued
}

// step takes an event and reports whether it lies inside the window.
func (m *meter) step(e event) bool {
	m.sum += e.n
	if e.n > 0 {
		m.total.Store(m.sum)
	}
	if m.slots != nil {
		return m.slots.step(m, e)
	}
	switch m.phase {
	case idle:
		if e.n == 0 {
			return false
		}
		m.phase = warming
		m.table.arrive(e.at)
		m.tryOpen(e)
	case warming:
		m.tryOpen(e)
	case open:
		m.tryClose(e)
		return true
	}
	return false
}

// pass counts one unit inside the open window, as step would. It gives false,
// and counts nothing, when step must look at it: an edge may be there.
func (m *meter) pass(at time.Duration) bool {
	if m.phase != open || at >= m.closes {
		return false
	}
	m.sum++
	m.total.Store(m.sum)
	return true
}

// atEdge reports whether an edge of the window waits for an event.
func (m *meter) atEdge(now time.Duration) bool {
	switch m.phase {
	case warming:
		return int64(now) >= m.table.opens.Load()
	case open:
		return now >= m.closes
	}
	return false
}

// due reports whether an edge is at e: not before its time, and not while more
// is queued, unless the thread does not catch up within a tick.
func (m *meter) due(e event, edge time.Duration) bool {
	if e.at < edge {
		return false
	}
	if m.noticed < edge {
		m.noticed = e.at
	}
	return !e.more || e.at >= m.noticed+tick
}

func (m *meter) tryOpen(e event) {
	m.opens = time.Duration(m.table.opens.Load())
	if m.opens == unset || !m.due(e, m.opens) {
		return
	}
	m.phase = open
	m.from, m.base = e.at, m.sum
	if e.n == 0 {
		m.from = m.opens
	}
	m.closes = m.from + m.table.Duration
	m.table.opened.CompareAndSwap(unset, int64(m.from))
	m.table.call(Opening)
}

func (m *meter) tryClose(e event) {
	if !m.due(e, m.closes) {
		return
	}
	m.phase = closed
	m.to, m.counted = e.at, m.sum-m.base
	if e.n == 0 {
		m.to = m.closes
	}
	m.table.call(Closing)
}

// opened is when the window, or the slot, that is open now opened; unset: none is.
func (m *meter) opened() time.Duration {
	if m.phase != open {
		return unset
	}
	return m.from
}

// elapsed is the time between the two edges of the count, or of those of all slots.
func (m *meter) elapsed() time.Duration {
	if m.slots != nil {
		return m.slots.elapsed
	}
	return m.to - m.from
}

// sampler takes the series of a window on its own thread.
type sampler struct {
	points []Point
	over   atomic.Bool
	done   chan struct{}
}

// startSampler samples the meters' totals at each interval of the window.
func startSampler(r *run, t *timetable, meters ...*meter) *sampler {
	s := &sampler{points: []Point{}, done: make(chan struct{})}
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

func (s *sampler) sample(r *run, t *timetable, meters []*meter) {
	for t.opened.Load() == unset {
		if s.over.Load() || r.stopped.Load() {
			return
		}
		sleep(min(max(time.Duration(t.opens.Load())-r.now(), tick/50), tick/10))
	}
	opened := time.Duration(t.opened.Load())
	var first int64
	for at := time.Duration(0); at <= t.Duration; at += t.Interval {
		for now := r.now(); now < opened+at; now = r.now() {
			if s.over.Load() || r.stopped.Load() {
				return
			}
			sleep(opened + at - now)
		}
		var sum int64
		for _, m := range meters {
			sum += m.total.Load()
		}
		if at == 0 {
			first = sum
		}
		s.points = append(s.points, Point{At: r.now() - opened, Count: sum - first})
	}
}

// finish ends the sampling and gives the series, which is empty when none was
// asked for.
func (s *sampler) finish() []Point {
	s.over.Store(true)
	<-s.done
	return s.points
}

// elapsedOf is the time over which all meters together had the sum of their
// rates. Their windows differ by a tick at most.
func elapsedOf(meters []*meter) time.Duration {
	if len(meters) == 1 {
		return meters[0].elapsed()
	}
	var count, rate, longest float64
	for _, m := range meters {
		longest = max(longest, float64(m.elapsed()))
		if m.counted > 0 {
			count += float64(m.counted)
			rate += float64(m.counted) / float64(m.elapsed())
		}
	}
	if count == 0 {
		return time.Duration(longest)
	}
	return time.Duration(count / rate)
}
