package traffic

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tare/test/labtest"
)

// A link of constant rate hands over chunks of any size; the window must give
// its rate, however few chunks it holds.
func TestWindowHasNoEdgeBias(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytesPerSecond := rapid.Float64Range(1e6, 1e9).Draw(t, "rate")
		chunks := rapid.SliceOfN(rapid.Int64Range(1, 80_000), 50, 400).Draw(t, "chunks")
		warmup := time.Duration(rapid.Int64Range(0, int64(30*time.Millisecond)).Draw(t, "warmup"))
		table := NewTimetable(Window{Warmup: warmup, Duration: 60 * time.Millisecond}, 1)
		m := NewMeter(table)
		var sent int64
		for i := 0; m.phase != Closed; i++ {
			n := chunks[i%len(chunks)]
			sent += n
			at := time.Duration(float64(sent) / bytesPerSecond * 1e9)
			m.Step(Event{At: at, N: n})
		}
		got := float64(m.counted) / m.Elapsed().Seconds()
		if math.Abs(got/bytesPerSecond-1) > 1e-5 {
			t.Fatalf("a link of %.0f B/s was measured as %.0f B/s: %d bytes in %v", bytesPerSecond, got, m.counted, m.Elapsed())
		}
	})
}

func TestWindowEdges(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	// at is an event of n units; queued one after which more is waiting.
	at := func(when int, n int64) Event { return Event{At: ms(when), N: n} }
	queued := func(when int, n int64) Event { return Event{At: ms(when), N: n, More: true} }
	tests := []struct {
		name     string
		events   []Event
		from, to int // ms
		counted  int64
	}{
		{"edges are the arrivals after the instants", []Event{at(0, 5), at(9, 1), at(12, 7), at(20, 4), at(31, 2), at(33, 8)}, 12, 33, 14},
		{"quiet around an edge: the instant itself", []Event{at(0, 5), at(9, 1), at(12, 0), at(20, 4), at(35, 0)}, 10, 30, 4},
		{"nothing at all in the window", []Event{at(0, 5), at(12, 0), at(35, 0)}, 10, 30, 0},
		{"the thread slept through the opening", []Event{at(0, 5), queued(45, 70), queued(46, 30), at(47, 1), at(60, 9), at(70, 3)}, 47, 70, 12},
		{"the thread slept through the closing", []Event{at(0, 5), at(10, 1), at(20, 2), queued(41, 30), at(42, 7), at(43, 9)}, 10, 42, 39},
		{"the thread never catches up", []Event{queued(0, 5), queued(10, 1), queued(20, 1), queued(30, 4), queued(40, 4), queued(50, 4), queued(60, 4)}, 20, 50, 12},
		{"nothing counts after the end", []Event{at(0, 5), at(10, 1), at(30, 2), at(31, 100)}, 10, 30, 2},
	}
	for _, test := range tests {
		var edges []Edge
		window := Window{Warmup: ms(10), Duration: ms(20), Edge: func(e Edge) { edges = append(edges, e) }}
		m := NewMeter(NewTimetable(window, 1))
		var inside int64
		for _, e := range test.events {
			if m.Step(e) {
				inside += e.N
			}
		}
		if m.from != ms(test.from) || m.to != ms(test.to) || m.counted != test.counted {
			t.Errorf("%s: %d in %v to %v, want %d in %dms to %dms", test.name, m.counted, m.from, m.to, test.counted, test.from, test.to)
		}
		if inside != m.counted {
			t.Errorf("%s: %d in events that lie inside, but %d counted", test.name, inside, m.counted)
		}
		if len(edges) != 2 || edges[0] != Opening || edges[1] != Closing {
			t.Errorf("%s: the owner got the edges %v", test.name, edges)
		}
	}
}

func TestWindowWaitsForAllFlows(t *testing.T) {
	table := NewTimetable(Window{Warmup: 10, Duration: 20}, 2)
	a, b := NewMeter(table), NewMeter(table)
	a.Step(Event{At: 0, N: 1})
	a.Step(Event{At: 100, N: 1})
	if a.phase != Warming {
		t.Fatal("the window opened before the second flow had data")
	}
	b.Step(Event{At: 100, N: 1})
	a.Step(Event{At: 111, N: 1})
	b.Step(Event{At: 112, N: 1})
	a.Step(Event{At: 131, N: 4})
	b.Step(Event{At: 135, N: 6})
	labtest.Equal(t, "counted by flow a", a.counted, 4)
	labtest.Equal(t, "counted by flow b", b.counted, 6)
	labtest.Equal(t, "window of flow a", a.Elapsed(), 20)
	labtest.Equal(t, "window of flow b", b.Elapsed(), 23)
}

func TestSamplerTakesAPointAtEachInterval(t *testing.T) {
	r := StartRun(t.Context())
	defer r.End()
	table := NewTimetable(Window{Duration: 5 * time.Millisecond, Interval: time.Millisecond}, 1)
	m := NewMeter(table)
	m.total.Store(7) // what came before the first point does not count
	table.opened.Store(int64(r.Now()))
	s := StartSampler(r, m)
	<-s.done // by itself
	labtest.Equal(t, "points", len(s.points), 6)
	for i, p := range s.points {
		labtest.AtLeast(t, "time of a point", p.At, time.Duration(i)*table.Interval)
		labtest.Equal(t, "count of a point", p.Count, 0)
	}
}

func TestWindowIsChecked(t *testing.T) {
	for _, w := range []Window{
		{}, {Duration: -1}, {Warmup: -1, Duration: 1}, {Duration: 1, Interval: -1},
		{Duration: time.Hour, Interval: time.Microsecond},
	} {
		if w.Check(1) == nil {
			t.Errorf("window %+v passed", w)
		}
	}
}
