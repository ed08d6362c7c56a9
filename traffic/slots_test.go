package traffic

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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
	m := newMeter(newTimetable(Window{Slots: s, Edge: func(e Edge) { edges = append(edges, e) }}, 1))
	own := s.turns(0)
	now := time.Duration(0)
	own.now = func() time.Duration { return now }
	own.advance()
	recorded, all := NewHistogram(), NewHistogram()
	m.countSlots(own, true, recorded, all)
	for ; m.phase != closed; now += ms / 2 {
		if m.step(event{at: now, n: 1}) {
			recorded.Record(ms)
		}
	}
	m.keepSlot()
	labtest.Equal(t, "window", m.slots.window, Slot{Count: 88, Elapsed: 44 * ms, FirstCount: 44, FirstElapsed: 22 * ms})
	labtest.Equal(t, "count of two slots", m.counted, 32)
	labtest.Equal(t, "recorded", all.Count(), 32)
	if !slices.Equal(edges, []Edge{Opening, Closing}) {
		t.Errorf("edges %v", edges)
	}
}

// slotted is a meter of run 0 of a table, whose first slot begins at 0 on its clock.
func slotted(t *testing.T) (*meter, func(cycle int) time.Duration) {
	t.Helper()
	s := table()
	m := newMeter(newTimetable(Window{Slots: s}, 1))
	own := s.turns(0)
	own.advance()
	m.countSlots(own, true, nil, nil)
	return m, func(cycle int) time.Duration {
		return time.Duration(cycle)*s.cycle() + time.Duration(s.Place(cycle))*s.Length
	}
}

func TestMeterCountsItsSlotsOnly(t *testing.T) {
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		events []event // of the first cycle that counts, from the slot's beginning
		want   Slot
	}{
		"even": {
			[]event{{at: 0, n: 1}, {at: ms, n: 1}, {at: 3 * ms, n: 2}, {at: 5 * ms, n: 2}, {at: 9 * ms, n: 4}},
			Slot{Count: 8, Elapsed: 8 * ms, FirstCount: 4, FirstElapsed: 4 * ms},
		},
		"what comes long after the end is not counted": {
			[]event{{at: ms, n: 1}, {at: 6 * ms, n: 3}, {at: 11 * ms, n: 9}},
			Slot{Count: 3, Elapsed: 8 * ms, FirstCount: 3, FirstElapsed: 5 * ms},
		},
		"late":              {[]event{{at: 4 * ms, n: 1}, {at: 9 * ms, n: 1}}, Slot{}},
		"nothing came":      {nil, Slot{}},
		"only another slot": {[]event{{at: 12 * ms, n: 5}}, Slot{}},
	} {
		m, begins := slotted(t)
		for _, e := range test.events {
			e.at += begins(1)
			m.step(e)
		}
		for !slices.Contains([]phase{closed}, m.phase) {
			m.step(event{at: m.slots.closes + time.Second})
		}
		if got := m.slots.kept[0]; got != test.want {
			t.Errorf("%s: the slot counted %+v, want %+v", name, got, test.want)
		}
		labtest.Equal(t, name+": counted", m.counted, test.want.Count)
		labtest.Equal(t, name+": elapsed", m.elapsed(), test.want.Elapsed)
	}
}

// A sender that was too late for its last slots has ended all the same.
func TestSlotsEndWithoutTheirLastEvents(t *testing.T) {
	const ms = time.Millisecond
	m, begins := slotted(t)
	m.step(event{at: begins(1) + ms, n: 1})
	labtest.Equal(t, "ended in its first slot", m.endSlots(begins(1)+2*ms), false)
	labtest.Equal(t, "ended with the last", m.endSlots(begins(3)+9*ms), true)
}

// A thread that was stopped for longer than a guard finds a slot over and the next one
// under way in the same event.
func TestSlotsKeepWhatEachRecorded(t *testing.T) {
	const ms = time.Millisecond
	s := &Slots{Length: 10 * ms, Settle: ms, Guard: ms, Runs: 1, Cycles: 6}
	m := newMeter(newTimetable(Window{Slots: s}, 1))
	own := s.turns(0)
	own.advance()
	recorded, all := NewHistogram(), NewHistogram()
	m.countSlots(own, true, recorded, all)
	for at := time.Duration(0); m.phase != closed; at += 300 * time.Microsecond {
		if at > 25*ms && at < 41*ms {
			at = 41*ms + ms/2 // stopped, and one slot lost
		}
		if m.step(event{at: at, n: 1}) {
			recorded.Record(ms)
		}
	}
	m.keepSlot()
	labtest.Equal(t, "what was recorded in slots that count", all.Count(), m.counted)
	for n, slot := range m.slots.kept {
		if lost := n == 3; (slot.Count == 0) != lost || (slot.Median == 0) != lost {
			t.Errorf("slot %d: %+v", n, slot)
		}
	}
}

// soon is a timetable for runs that are about to be started.
func soon(t *testing.T, runs, cycles int) Slots {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Fatal(err)
	}
	return Slots{
		Begin: time.Duration(now.Nano()) + 100*time.Millisecond, Window: 50 * time.Millisecond, Length: 10 * time.Millisecond, Settle: time.Millisecond, Guard: time.Millisecond,
		Runs: runs, Warmup: 1, Cycles: cycles, Seed: 1,
	}
}

// A sender that ends its slots early ends its last one with the slot: the receiver waits
// for what is under way.
func TestSlotsEndWithTheirTime(t *testing.T) {
	s := soon(t, 1, 2)
	r := startRun(t.Context())
	defer r.end()
	own, err := takeTurns(r, &s)
	if err != nil {
		t.Fatal(err)
	}
	ends, began := 0, own.from
	own.early, own.closed = 4*time.Millisecond, func() { ends++ }
	for first := true; own.await(r); first = false {
		if first {
			labtest.AtLeast(t, "time of the beginning", r.now(), began)
		}
		sleep(100 * time.Microsecond)
	}
	labtest.Equal(t, "turns that ended", ends, 1+s.Warmup+s.Cycles)
	labtest.AtLeast(t, "time of the end", r.now(), own.closes)
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
	s := soon(t, 1, 10)
	edges := 0
	client, err := InSlots(t.Context(), Window{Warmup: 50 * time.Millisecond, Duration: s.Span(), Slots: &s, Edge: func(Edge) { edges++ }}, true)
	if err != nil {
		t.Fatal(err)
	}
	for sent, mine := client.Await(); mine; sent, mine = client.Await() {
		sleep(50 * time.Microsecond) // the answer
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

// A run whose slots are all of the time, so that none is missed for others. A busy machine
// may be late for all slots of one, or for its window, but not for those of all.
func TestLabRunsInSlots(t *testing.T) {
	const ms = time.Millisecond
	opened := 0
	var inSlots, inWindows int64
	window := func(s *Slots) Window {
		opened = 0
		return Window{Warmup: 100 * ms, Duration: s.Span(), Slots: s, Edge: func(e Edge) {
			if e == Opening {
				opened++
			}
		}}
	}
	check := func(name string, s Slots, taken Taken, counted int64) {
		t.Helper()
		var sum int64
		for _, slot := range taken.Slots {
			sum += slot.Count
		}
		labtest.Equal(t, name+": slots", len(taken.Slots), s.Cycles)
		labtest.Equal(t, name+": count in them", sum, counted)
		labtest.AtMost(t, name+": windows that opened", opened, 1)
		inSlots, inWindows = inSlots+counted, inWindows+taken.Window.Count
	}
	for _, loop := range []struct {
		name string
		run  func(testing.TB, RequestResponse) (Served, Transactions)
	}{{"tcp_rr", runTCPRR}, {"udp_rr", runUDPRR}, {"tcp_crr", runTCPCRR}} {
		s := soon(t, 1, 15)
		_, called := loop.run(t, RequestResponse{Token: testToken, Window: window(&s)})
		check(loop.name, s, called.Taken, called.Count)
		labtest.Equal(t, loop.name+": round trips", called.RTT.Count(), called.Count)
	}

	s := soon(t, 1, 15)
	_, calls := runHTTP(t, HTTP{Window: window(&s), Connections: 3})
	check("http", s, calls.Taken, calls.Count)
	labtest.Equal(t, "http: response times", calls.Latency.Count(), calls.Count)

	s = soon(t, 1, 15)
	stream := TCPStream{Token: testToken, Window: window(&s)}
	l := listenTCP(t)
	got, sent := mustRun(t,
		func(ctx context.Context) (TCPStreamEnd, error) { return ServeTCPStream(ctx, l, stream) },
		func(ctx context.Context) (TCPStreamEnd, error) { return SendTCPStream(ctx, l.Addr(), stream) })
	check("tcp_stream", s, got.Received.Taken, got.Received.Bytes())
	labtest.NotEqual(t, "sender", sent.Sent, nil)

	s = soon(t, 1, 15)
	pps := UDPPPS{Token: testToken, Window: window(&s)}
	port := listenUDP(t)
	received, flooded := mustRun(t,
		func(ctx context.Context) (UDPReceived, error) { return ServeUDPPPS(ctx, port, pps) },
		func(ctx context.Context) (UDPSent, error) { return SendUDPPPS(ctx, port.Addr(), pps) })
	check("udp_pps", s, received.Taken, received.Datagrams)
	if received.Datagrams > 0 {
		labtest.MoreThan(t, "udp_pps: sent in slots", flooded.Datagrams, 0)
	}
	labtest.AtMost(t, "udp_pps: time of its slots", received.Elapsed, time.Duration(s.Cycles)*s.Length)
	labtest.MoreThan(t, "count in all slots", inSlots, 0)
	labtest.MoreThan(t, "count in all windows", inWindows, 0)
}
