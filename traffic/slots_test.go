package traffic

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"tare/test/labtest"
)

// table is a timetable of two runs that begins at once.
func table() *Slots {
	return &Slots{Length: 10 * time.Millisecond, Settle: time.Millisecond, Guard: time.Millisecond, Runs: 2, Warmup: 1, Cycles: 3, Seed: 7}
}

func TestSlotsOfACycleDoNotOverlap(t *testing.T) {
	for cycle := range 100 {
		var places []int
		for run := range 5 {
			s := Slots{Runs: 5, Run: run, Seed: 3}
			places = append(places, s.Place(cycle))
		}
		slices.Sort(places)
		if !slices.Equal(places, []int{0, 1, 2, 3, 4}) {
			t.Fatalf("cycle %d has the places %v", cycle, places)
		}
	}
}

func TestTurnsOfATimetableDoNotOverlap(t *testing.T) {
	var all [][2]time.Duration
	s := *table()
	s.Window = 35 * time.Millisecond
	for s.Run = range s.Runs {
		own := s.turns(time.Second)
		for own.advance() {
			all = append(all, [2]time.Duration{own.from, own.closes})
		}
	}
	slices.SortFunc(all, func(a, b [2]time.Duration) int { return int(a[0] - b[0]) })
	labtest.Equal(t, "turns", len(all), s.Runs*(1+s.Warmup+s.Cycles))
	at := time.Second
	for _, turn := range all {
		labtest.AtLeast(t, "beginning of a turn", turn[0], at)
		at = turn[1]
	}
	labtest.Equal(t, "end of the last", at+s.Guard, time.Second+s.Span())
}

// What a run does in its window is no part of its slots.
func TestMeterCountsTheWindowApart(t *testing.T) {
	const ms = time.Millisecond
	s := &Slots{Window: 50 * ms, Length: 10 * ms, Settle: ms, Guard: ms, Runs: 1, Cycles: 2}
	var edges []Edge
	m := NewMeter(NewTimetable(Window{Slots: s, Edge: func(e Edge) { edges = append(edges, e) }}, 1))
	own := s.turns(0)
	now := time.Duration(0)
	own.now = func() time.Duration { return now }
	own.advance()
	recorded, all := NewHistogram(), NewHistogram()
	m.CountSlots(own, true, recorded, all)
	for ; m.phase != Closed; now += ms / 2 {
		if m.Step(Event{At: now, N: 1}) {
			recorded.Record(ms)
		}
	}
	m.KeepSlot()
	labtest.Equal(t, "window", m.slots.window, Slot{Count: 88, Elapsed: 44 * ms, FirstCount: 44, FirstElapsed: 22 * ms})
	labtest.Equal(t, "count of two slots", m.counted, 32)
	labtest.Equal(t, "recorded", all.Count(), 32)
	if !slices.Equal(edges, []Edge{Opening, Closing}) {
		t.Errorf("edges %v", edges)
	}
}

// slotted is a meter of run 0 of a table, whose first slot begins at 0 on its clock.
func slotted(t *testing.T) (*Meter, func(cycle int) time.Duration) {
	t.Helper()
	s := table()
	m := NewMeter(NewTimetable(Window{Slots: s}, 1))
	own := s.turns(0)
	own.advance()
	m.CountSlots(own, true, nil, nil)
	return m, func(cycle int) time.Duration {
		return time.Duration(cycle)*s.cycle() + time.Duration(s.Place(cycle))*s.Length
	}
}

func TestMeterCountsItsSlotsOnly(t *testing.T) {
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		events []Event // of the first cycle that counts, from the slot's beginning
		want   Slot
	}{
		"even": {
			[]Event{{At: 0, N: 1}, {At: ms, N: 1}, {At: 3 * ms, N: 2}, {At: 5 * ms, N: 2}, {At: 9 * ms, N: 4}},
			Slot{Count: 8, Elapsed: 8 * ms, FirstCount: 4, FirstElapsed: 4 * ms},
		},
		"what comes long after the end is not counted": {
			[]Event{{At: ms, N: 1}, {At: 6 * ms, N: 3}, {At: 11 * ms, N: 9}},
			Slot{Count: 3, Elapsed: 8 * ms, FirstCount: 3, FirstElapsed: 5 * ms},
		},
		"late":              {[]Event{{At: 4 * ms, N: 1}, {At: 9 * ms, N: 1}}, Slot{}},
		"nothing came":      {nil, Slot{}},
		"only another slot": {[]Event{{At: 12 * ms, N: 5}}, Slot{}},
	} {
		m, begins := slotted(t)
		for _, e := range test.events {
			e.At += begins(1)
			m.Step(e)
		}
		for !slices.Contains([]Phase{Closed}, m.phase) {
			m.Step(Event{At: m.slots.closes + time.Second})
		}
		if got := m.slots.kept[0]; got != test.want {
			t.Errorf("%s: the slot counted %+v, want %+v", name, got, test.want)
		}
		labtest.Equal(t, name+": counted", m.counted, test.want.Count)
		labtest.Equal(t, name+": elapsed", m.Elapsed(), test.want.Elapsed)
	}
}

// A sender that was too late for its last slots has ended all the same.
func TestSlotsEndWithoutTheirLastEvents(t *testing.T) {
	const ms = time.Millisecond
	m, begins := slotted(t)
	m.Step(Event{At: begins(1) + ms, N: 1})
	labtest.Equal(t, "ended in its first slot", m.EndSlots(begins(1)+2*ms), false)
	labtest.Equal(t, "ended with the last", m.EndSlots(begins(3)+9*ms), true)
}

// A thread that was stopped for longer than a guard finds a slot over and the next one
// under way in the same event.
func TestSlotsKeepWhatEachRecorded(t *testing.T) {
	const ms = time.Millisecond
	s := &Slots{Length: 10 * ms, Settle: ms, Guard: ms, Runs: 1, Cycles: 6}
	m := NewMeter(NewTimetable(Window{Slots: s}, 1))
	own := s.turns(0)
	own.advance()
	recorded, all := NewHistogram(), NewHistogram()
	m.CountSlots(own, true, recorded, all)
	for at := time.Duration(0); m.phase != Closed; at += 300 * time.Microsecond {
		if at > 25*ms && at < 41*ms {
			at = 41*ms + ms/2 // stopped, and one slot lost
		}
		if m.Step(Event{At: at, N: 1}) {
			recorded.Record(ms)
		}
	}
	m.KeepSlot()
	labtest.Equal(t, "what was recorded in slots that count", all.Count(), m.counted)
	for n, slot := range m.slots.kept {
		if lost := n == 3; (slot.Count == 0) != lost || (slot.Median == 0) != lost {
			t.Errorf("slot %d: %+v", n, slot)
		}
	}
}

// A sender that ends its slots early ends its last one with the slot: the receiver waits
// for what is under way.
func TestSlotsEndWithTheirTime(t *testing.T) {
	s := Soon(t, 1, 2)
	r := StartRun(t.Context())
	defer r.End()
	own, err := TakeTurns(r, &s)
	if err != nil {
		t.Fatal(err)
	}
	ends, began := 0, own.from
	own.early, own.closed = 4*time.Millisecond, func() { ends++ }
	for first := true; own.Await(r); first = false {
		if first {
			labtest.AtLeast(t, "time of the beginning", r.Now(), began)
		}
		Sleep(100 * time.Microsecond)
	}
	labtest.Equal(t, "turns that ended", ends, 1+s.Warmup+s.Cycles)
	labtest.AtLeast(t, "time of the end", r.Now(), own.closes)
}

// A client of another package takes its turns as the loops here do. Where it is late for its
// window, or for all of its slots, it counted nothing, and tries once more.
func TestLabClientInSlots(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for tries := 10; ; tries-- {
		window, count := clientInSlots(t)
		if window > 0 && count > 0 {
			return
		}
		if tries == 1 {
			t.Fatal("it is always late")
		}
		labtest.TryAgain(t, "it was late: %d in the window, %d in the slots", window, count)
	}
}

// clientInSlots is one run, and gives what it counted in its window and in its slots.
func clientInSlots(t *testing.T) (inWindow, count int64) {
	t.Helper()
	s := Soon(t, 1, 10)
	edges := 0
	client, err := InSlots(t.Context(), Window{Warmup: 50 * time.Millisecond, Duration: s.Span(), Slots: &s, Edge: func(Edge) { edges++ }}, true)
	if err != nil {
		t.Fatal(err)
	}
	for sent, mine := client.Await(); mine; sent, mine = client.Await() {
		Sleep(50 * time.Microsecond) // the answer
		client.Count(sent)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	var taken Taken
	count, elapsed := client.AddTo(&taken)
	labtest.Equal(t, "slots", len(taken.Slots), s.Cycles)
	labtest.Equal(t, "latencies", client.Latency().Count(), count)
	labtest.AtMost(t, "time of the slots", elapsed, time.Duration(s.Cycles)*s.Length)
	labtest.AtMost(t, "edges", edges, 2)
	return taken.Window.Count, count
}
