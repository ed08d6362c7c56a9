package schedule

import (
	"math"
	"slices"
	"time"
)

const (
	// leastWarmup is how many cycles of a block at least do not count. Where its runs
	// have no window before them, and so new connections, its slots have half of a
	// window's warm-up.
	leastWarmup = 1
	// leastCycles is how many cycles of a block count at least.
	leastCycles = 4
	// slotEnds is the share of a slot at each of its ends where nothing is counted.
	slotEnds = 0.1
	// leastSettle is how long at least a slot's beginning does not count: a run that
	// has rested finds its caches cold.
	leastSettle = 500 * time.Microsecond
	// mostSlot is the longest slot: beyond it noise changes between those of a cycle.
	mostSlot = 40 * time.Millisecond
	// tuning is in how many of a group's blocks its slots may be found not to fit.
	tuning = 3
	// windowRoom makes windows longer than they need be, since their edges are events.
	windowRoom = 1.02
)

// Slots is how a block of a group is divided where its runs take turns.
type Slots struct {
	Length time.Duration // of a slot
	Settle time.Duration // at its beginning, where nothing is counted
	Guard  time.Duration // at its end
	Warmup int           // cycles before those that count
	Cycles int           // that count
}

// Slots divides a block into slots of a length, of a workload that settles in some time.
func (l Lengths) Slots(length, settle time.Duration) Slots {
	ends := time.Duration(float64(length) * slotEnds)
	s := Slots{Length: length, Settle: max(ends, leastSettle, settle), Guard: ends}
	s.Warmup = max(leastWarmup, slotsIn(l.Warmup.Duration()/2, length))
	s.Cycles = max(leastCycles, slotsIn(l.Duration.Duration(), length-s.Settle-s.Guard))
	return s
}

// slotsIn is how many slots have so much time together.
func slotsIn(time, slot time.Duration) int { return int(math.Ceil(time.Seconds() / slot.Seconds())) }

// Window is how long the window is that each run has before its slots, so that all blocks together
// have windows of a time; its beginning and end count as little as a slot's.
func (s Slots) Window(together float64, blocks int) time.Duration {
	need := windowRoom * together / float64(min(LeastBlocks, blocks))
	settles := float64(s.Settle) / float64(s.Length)
	return time.Duration((need*float64(time.Second) + float64(s.Guard)) / (1 - settles))
}

// AfterWindow are the same slots after a window, by which the connections are warm.
func (s Slots) AfterWindow() Slots {
	s.Warmup = leastWarmup
	return s
}

// turns is how a group takes turns.
type turns struct {
	slot     time.Duration // 0: it takes none
	measured int           // blocks, with slots of this length
	again    int           // blocks that are to be measured once more, since their slots did not fit
}

// Fit is how slots suit what is measured in them.
type Fit int

// What slots can be.
const (
	Fits     Fit = iota
	TooShort     // their beginning is unlike the rest
	Useless      // most of them have nothing to count: windows, which last longer, have
)

// turnsOf is how a group, with those that it takes turns with, does so.
func (s *Schedule) turnsOf(group int) *turns {
	n := s.Groups[group].With
	if s.turns[n] == nil {
		s.turns[n] = &turns{slot: s.Groups[n].Slot}
	}
	return s.turns[n]
}

// Slot is how long the slots of a group are: at first as short as its workload can do with. 0: it has
// windows.
func (s *Schedule) Slot(group int) time.Duration { return s.turnsOf(group).slot }

// Turned says that a group has taken its turns in a block. fit reports how its slots suit its cells: in the
// first blocks, those that are too short are doubled, and useless ones make room for windows. Again are the
// cells that are to be measured once more, and what was measured of them does not count.
func (s *Schedule) Turned(group int, fit func(cells []int) Fit) (again []int) {
	t := s.turnsOf(group)
	t.measured++
	if t.measured > tuning {
		return nil
	}
	cells := s.together(s.Groups[group].With)
	switch is := fit(cells); {
	case is == Useless:
		t.slot = 0
	case is == TooShort && t.slot < mostSlot:
		t.slot = min(2*t.slot, mostSlot)
	default:
		return nil
	}
	t.again += t.measured
	t.measured = 0
	return cells
}

// together are the cells of the groups that take turns with one.
func (s *Schedule) together(with int) (cells []int) {
	for _, g := range s.Groups {
		for _, cell := range g.Cells {
			if g.With == with && !slices.Contains(cells, cell) {
				cells = append(cells, cell)
			}
		}
	}
	return cells
}
