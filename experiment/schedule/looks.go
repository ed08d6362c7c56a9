package schedule

import (
	"time"

	"tare/stats"
)

// MostLooked is after how many blocks a run has its last look, unless it has the time
// for more.
const MostLooked = 30

// errorRate is how often a run may decide wrongly by chance.
const errorRate = 0.05

// Look is how much of the error rate may be spent after so many blocks of a run that
// has its last look after most: it looks a few times at what is decided, and each time
// could be wrong. due is false where it does not look.
func Look(blocks, most int) (rate float64, due bool) {
	spent := 0.0
	for _, at := range [...]int{7, 10, 15, 22, MostLooked} {
		at = at * most / MostLooked
		may := stats.Spend(errorRate, float64(at)/float64(most))
		if at == blocks {
			return may - spent, true
		}
		spent = may
	}
	return 0, false
}

// Compared is what a look asks about: cells that are held against a baseline.
type Compared struct {
	Blocks   int // that were measured of them
	Baseline int // its number
	Others   []int
	// Decided reports whether a cell's toll is known to be one or none, wrongly so as often as the
	// rate says.
	Decided func(cell int, rate float64) bool
}

// look lets the cells that are decided go, where there are as many blocks as a look
// needs. A baseline without others is done.
func (s *Schedule) look(all []Compared) {
	if !s.Looks {
		return
	}
	for _, c := range all {
		rate, due := Look(c.Blocks, s.mostLooked())
		if !due {
			continue
		}
		open := false
		for _, cell := range c.Others {
			if !s.decided[cell] {
				s.decided[cell] = c.Decided(cell, rate)
				open = open || !s.decided[cell]
			}
		}
		s.decided[c.Baseline] = !open && len(c.Others) > 0
	}
}

// mostLooked is after how many blocks the run has its last look.
func (s *Schedule) mostLooked() int { return max(MostLooked, s.most) }

// spread spreads the looks of a run over the time that it may take, once it is known
// what its blocks take: before the first look.
func (s *Schedule) spread(blocks int, now time.Time) {
	if s.Looks && s.MaxTime > 0 && blocks == LeastBlocks {
		each := now.Sub(s.first) / LeastBlocks
		s.most = int((s.MaxTime - s.first.Sub(s.began)) / max(each, 1))
	}
}
