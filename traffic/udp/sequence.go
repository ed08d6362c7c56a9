package udp

import "math"

// sequences sorts arriving sequence numbers into first arrivals, duplicates,
// reordered ones and lost ones. The classes are disjoint. A sliding bitmap
// remembers the last span numbers.
//
// It counts the numbers of the window only: those after the highest seen when
// it opened, up to the highest seen when it closed. They count whenever they
// arrive, so what is late at the edge is not lost.
type sequences struct {
	seen    []uint64
	highest int64 // -1: none yet
	low     int64 // counted: low < number <= high
	high    int64

	unique     int64 // arrived at least once
	duplicates int64 // arrived again
	reordered  int64 // arrived first after a higher one (RFC 4737, 3)
	ancient    int64 // too old to classify; not in unique
}

const span = 1 << 18 // a power of two

func newSequences() *sequences {
	s := &sequences{seen: make([]uint64, span/64), highest: -1, low: math.MaxInt64, high: math.MaxInt64}
	for i := range s.seen { // map the memory
		s.seen[i] = 0
	}
	return s
}

// restart forgets all, and begins the count with the first number.
func (s *sequences) restart() {
	*s = sequences{seen: s.seen, highest: -1, low: -1, high: math.MaxInt64}
}

// open begins the count after the highest number so far.
func (s *sequences) open() { s.low = s.highest }

// close ends the count with the highest number so far.
func (s *sequences) close() { s.high = s.highest }

// see takes an arriving number and reports whether it is the first of its kind.
func (s *sequences) see(n int64) bool {
	counts := n > s.low && n <= s.high
	if n > s.highest {
		s.advance(n)
		if counts {
			s.unique++
		}
		return true
	}
	if n <= s.highest-span {
		if counts {
			s.ancient++
		}
		return false
	}
	word, bit := n%span/64, uint64(1)<<(n%64)
	again := s.seen[word]&bit != 0
	s.seen[word] |= bit
	switch {
	case !counts:
	case again:
		s.duplicates++
	default:
		s.unique++
		s.reordered++
	}
	return !again
}

// adopt takes numbers that a program has sorted, of which highest is the highest so far.
func (s *sequences) adopt(fresh liveCounts, highest int64) {
	s.highest = highest
	if s.low == math.MaxInt64 || s.high != math.MaxInt64 {
		return
	}
	s.unique += int64(fresh.unique)
	s.duplicates += int64(fresh.duplicates)
	s.reordered += int64(fresh.reordered)
}

// advance makes n the highest number, and those it skipped unseen.
func (s *sequences) advance(n int64) {
	if n-s.highest >= span || s.highest < 0 {
		clear(s.seen)
	} else {
		for i := s.highest + 1; i < n; i++ {
			s.seen[i%span/64] &^= 1 << (i % 64)
		}
	}
	s.seen[n%span/64] |= 1 << (n % 64)
	s.highest = n
}

// expected is how many numbers the window holds; valid once closed.
func (s *sequences) expected() int64 { return max(s.high-s.low, 0) }

// lost is how many of them never arrived, as far as is known.
func (s *sequences) lost() int64 { return s.expected() - s.unique }
