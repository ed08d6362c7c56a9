// Package schedule decides what a run measures, in which order, for how long, and when it ends.
// It measures nothing, knows no network, and reads no clock: what it gets is numbers of groups
// and cells, what was found about them, and the time.
package schedule

import (
	"math"
	mathrand "math/rand/v2"
	"slices"
	"time"

	"tare/stats"
)

// LeastBlocks is the fewest for which an exact 95 % interval exists.
const LeastBlocks = stats.MinBlocks

// Plan is what is to be measured.
type Plan struct {
	Seed      uint64
	Blocks    int
	Looks     bool          // it stops measuring what is decided, and spends the time on the rest
	MaxTime   time.Duration // that it may take; 0: as long as it takes
	Precision float64       // it ends once each toll's interval is no wider to each side; 0: after its blocks
	Groups    []Group
}

// Group is what is compared with each other, and so measured close together.
type Group struct {
	// Cells has for each run of a block the number of its cell: both baselines are one.
	Cells []int
	// With is the first of the groups that it takes turns with: its own number where it does so
	// with none, or not at all.
	With int
	// Slot is the shortest that its workload can do with; 0: it is measured in windows.
	Slot time.Duration
}

// Visit is one run of a block: a place of a group.
type Visit struct{ Group, Place int }

// Schedule is a plan under way.
type Schedule struct {
	Plan
	began   time.Time    // the run, with what is done before its first block
	first   time.Time    // the first block
	decided map[int]bool // by cell
	turns   map[int]*turns

	in   time.Duration // that the plan's blocks would take with all cells
	most int           // blocks in the plan's most time, where that is known; 0: it is not
}

// New is the schedule of a plan that begins.
func New(p Plan, began time.Time) *Schedule {
	return &Schedule{Plan: p, began: began, first: began, decided: map[int]bool{}, turns: map[int]*turns{}}
}

// Begin says when the first block begins.
func (s *Schedule) Begin(now time.Time) { s.first = now }

// Measured is for how long its blocks have gone on.
func (s *Schedule) Measured(now time.Time) time.Duration { return now.Sub(s.first) }

// Left is the most time that a run has which looks; 0: it is not known yet.
func (s *Schedule) Left(now time.Time) time.Duration {
	if s.MaxTime > 0 {
		return max(0, s.MaxTime-now.Sub(s.began))
	}
	return max(0, s.in-s.Measured(now))
}

// Runs is how many runs a block with all cells has.
func (p Plan) Runs() (runs int) {
	for _, g := range p.Groups {
		runs += len(g.Cells)
	}
	return runs
}

// All are all runs of a block, in the random order of that block: the groups are shuffled, and
// the runs within each, so that drift affects all cells equally. Groups that take turns with each
// other are together.
func (p Plan) All(block int) []Visit {
	rng := mathrand.New(mathrand.NewPCG(p.Seed, uint64(block)))
	var visits []Visit
	for _, first := range rng.Perm(len(p.Groups)) {
		var own []Visit
		for n, g := range p.Groups {
			if g.With != first {
				continue
			}
			for place := range g.Cells {
				own = append(own, Visit{n, place})
			}
		}
		rng.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
		visits = append(visits, own...)
	}
	return visits
}

// Order is the seed of the order in which the runs of a block take turns.
func (p Plan) Order(block int) uint64 {
	return mathrand.New(mathrand.NewPCG(p.Seed, uint64(block))).Uint64()
}

// Visits are the runs of a block in their order: those of cells that are still to be measured.
func (s *Schedule) Visits(block int) []Visit {
	return slices.DeleteFunc(s.All(block), func(v Visit) bool { return !s.due(v.Group, block) || !s.wants(v) })
}

// wants reports whether a cell is still to be measured.
func (s *Schedule) wants(v Visit) bool { return !s.decided[s.Groups[v.Group].Cells[v.Place]] }

// due reports whether a group is to be measured in a block.
func (s *Schedule) due(n, block int) bool {
	return block < s.blocksOf(n) && slices.ContainsFunc(s.Groups[n].Cells, func(cell int) bool { return !s.decided[cell] })
}

// Due reports whether anything is to be measured in a block.
func (s *Schedule) Due(block int) bool {
	for n := range s.Groups {
		if s.due(n, block) {
			return true
		}
	}
	return false
}

// blocksOf is how many blocks a group has at most.
func (s *Schedule) blocksOf(n int) int {
	blocks := s.Blocks
	if s.Looks {
		blocks = s.mostLooked()
	}
	if t := s.turns[s.Groups[n].With]; t != nil {
		blocks += t.again
	}
	return blocks
}

// Ended says that so many blocks are over, the last of which took some time, and what can be
// compared after them. more reports whether there is time for another block; cut, whether it is
// the most time that ends the run, before the plan's blocks were measured.
func (s *Schedule) Ended(blocks int, took time.Duration, now time.Time, all []Compared) (more, cut bool) {
	more = s.inTime(blocks, took, now)
	s.spread(blocks, now)
	s.look(all)
	if !more || s.MaxTime == 0 || now.Sub(s.began)+took <= s.patience(blocks) || !s.Due(blocks) {
		return more, false
	}
	return false, blocks < s.Blocks
}

// patience is the most time of a run with so many blocks: half as long again for one that looks for
// verdicts and has too few blocks for any.
func (s *Schedule) patience(blocks int) time.Duration {
	if s.Looks && blocks <= LeastBlocks {
		return s.MaxTime + s.MaxTime/2
	}
	return s.MaxTime
}

// inTime reports whether a run that looks has time for another block that takes as long
// as the one before. In all it has as much as the plan's blocks would take with all cells;
// a run with a most time has that.
func (s *Schedule) inTime(blocks int, took time.Duration, now time.Time) bool {
	if !s.Looks || s.MaxTime > 0 {
		return true
	}
	since := s.Measured(now)
	if len(s.decided) == 0 {
		s.in = since + time.Duration(s.Blocks-blocks)*took
	}
	return since+took/2 <= s.in
}

// Precise reports whether a plan with a precision may end after so many blocks: of the headline
// toll of each cell, half the width of its interval. NaN: it has none.
func (p Plan) Precise(blocks int, halves []float64) bool {
	if p.Precision <= 0 || blocks < LeastBlocks {
		return false
	}
	return !slices.ContainsFunc(halves, func(half float64) bool { return math.IsNaN(half) || half > p.Precision })
}

// mostMisses is how many runs of a cell may fail twice in their block, or as many as
// missesShare of those that did not: a busy machine can stall a window of some tens of
// milliseconds, and make each slot of a block late.
const (
	mostMisses  = 2
	missesShare = 0.25
)

// GivesUp reports whether a cell with so many samples that has missed so often is measured no more.
func GivesUp(missed, samples int) bool {
	return missed > max(mostMisses, int(missesShare*float64(samples)))
}
