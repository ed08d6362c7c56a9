package udp

import (
	"testing"

	"pgregory.net/rapid"

	"tare/test/labtest"
)

// tally sorts arrivals the slow way: it remembers all.
type tally struct{ unique, duplicates, reordered int64 }

func tallyOf(arrivals []int64, low, high int64) tally {
	var t tally
	seen := map[int64]bool{}
	highest := int64(-1)
	for _, n := range arrivals {
		counts := n > low && n <= high
		switch {
		case !counts:
		case seen[n]:
			t.duplicates++
		default:
			t.unique++
			if n < highest {
				t.reordered++
			}
		}
		seen[n] = true
		highest = max(highest, n)
	}
	return t
}

func TestSequencesSortArrivals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Int64Range(0, 3*span).Draw(t, "base")
		near := rapid.Int64Range(0, 200)
		arrivals := rapid.SliceOfN(near, 1, 400).Draw(t, "arrivals")
		openAt := rapid.IntRange(0, len(arrivals)-1).Draw(t, "open")
		closeAt := rapid.IntRange(openAt, len(arrivals)-1).Draw(t, "close")
		s := newSequences()
		for i := range arrivals {
			arrivals[i] += base
			s.see(arrivals[i])
			if i == openAt {
				s.open()
			}
			if i == closeAt {
				s.close()
			}
		}
		// Before the window opens nothing counts, so the slow way sees the
		// same: what arrived before the opening is not above low.
		want := tallyOf(arrivals, s.low, s.high)
		got := tally{s.unique, s.duplicates, s.reordered}
		if got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		if s.lost() != s.high-s.low-want.unique {
			t.Fatalf("lost %d of (%d, %d] with %d there", s.lost(), s.low, s.high, want.unique)
		}
	})
}

func TestSequencesForgetWhatIsTooOld(t *testing.T) {
	s := newSequences()
	s.see(0)
	s.open()
	s.see(1)
	s.see(2 * span) // all between are unseen
	s.see(2)        // too old to classify
	s.see(2*span - 1)
	s.see(2*span - 1)
	s.see(span + 1)
	s.close()
	labtest.Equal(t, "unique", s.unique, 4)
	labtest.Equal(t, "duplicates", s.duplicates, 1)
	labtest.Equal(t, "reordered", s.reordered, 2)
	labtest.Equal(t, "ancient", s.ancient, 1)
}
