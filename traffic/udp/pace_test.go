package udp

import (
	"testing"
	"time"

	"tare/test/labtest"
	"tare/traffic"
)

// A stalled sender catches up by Burst slots and gives up the rest.
func TestScheduleNeverFloods(t *testing.T) {
	for _, test := range []struct {
		burst         int64
		behind        float64 // slots
		index         int64
		late, skipped int64
	}{
		{1, 0.5, 11, 0, 0}, {1, 1.5, 12, 1, 1}, {1, 7.2, 18, 1, 7}, {3, 2.5, 11, 1, 0}, {3, 7.2, 16, 1, 5},
	} {
		p := newPacer(1000, test.burst, false)
		p.index = 10
		p.count(10_000, time.Duration(10_000+test.behind*1000), 0)
		if p.index != test.index || p.late != test.late || p.skipped != test.skipped {
			t.Errorf("burst %d, %.1f slots behind: next %d, late %d, skipped %d; want %d, %d, %d",
				test.burst, test.behind, p.index, p.late, p.skipped, test.index, test.late, test.skipped)
		}
	}
}

// A sender that is held up before its window and comes back inside it has given up slots of
// both: only those of the window are skipped ones.
func TestSlotsBeforeTheWindowAreNotSkippedOnes(t *testing.T) {
	for _, test := range []struct {
		name    string
		burst   int64
		opened  time.Duration
		skipped int64
	}{
		{"all inside", 1, 9_000, 7},
		{"opened as the slot that is sent was due", 1, 10_000, 7},
		{"opened as the first that is given up was due", 1, 11_000, 7},
		{"opened between two that are given up", 1, 13_500, 4},
		{"opened as one was due", 1, 14_000, 4},
		{"opened after all of them", 1, 17_200, 0},
		{"a burst is sent late, not given up", 3, 13_500, 2},
		{"opened after those that a burst leaves", 3, 15_001, 0},
		{"not open", 1, traffic.Unset, 0},
	} {
		p := newPacer(1000, test.burst, false)
		p.index = 10
		p.count(10_000, 17_200, test.opened)
		labtest.Equal(t, test.name+": slots skipped", p.skipped, test.skipped)
		labtest.Equal(t, test.name+": next slot", p.index, 18-(test.burst-1))
	}
}
