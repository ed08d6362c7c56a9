package schedule

import (
	"cmp"
	"math"
	"sort"
	"time"

	"tare/result"
)

// What a plan that sets no times has.
const (
	LeastWarmup   result.Seconds = 0.030
	leastWindow   result.Seconds = 0.060
	LeastTogether result.Seconds = 0.025 // of a block's slots together
	// budget is what the runs of a plan may take together where it sets no duration. Slots
	// need less.
	budget      result.Seconds = 55
	slotsBudget                = 50 * time.Second
	// longestWindow is the length beyond which a window becomes no more precise.
	longestWindow result.Seconds = 2
)

// WindowsFrom is how long a cell must be measured in a block so that a plan has time for
// windows too.
const WindowsFrom result.Seconds = 0.060

// runOverhead is what a run takes in addition to warm-up and window.
const runOverhead = 10 * time.Millisecond

// About what a run that takes turns needs in a block besides its slots, and in all blocks
// for its windows.
const (
	slotsOverhead = 20 * time.Millisecond
	windowsTime   = 600 * time.Millisecond
)

// Lengths are for how long a plan has each run measured in a block, and in how many.
type Lengths struct {
	Warmup, Duration result.Seconds
	Blocks           int
}

// Timed is what the time of a group in a block depends on.
type Timed struct {
	Runs   int
	Slot   time.Duration // where its runs take turns; 0: they have windows
	Settle time.Duration // that its workload needs in each slot
	Brief  bool          // its slots are too short to count CPU time in
}

// Block is about what one block of some groups takes.
func (l Lengths) Block(groups []Timed) (block time.Duration) {
	for _, g := range groups {
		each := l.Warmup.Duration() + l.Duration.Duration() + runOverhead
		if g.Slot > 0 {
			slots := l.Slots(g.Slot, g.Settle)
			each = time.Duration(slots.Warmup+slots.Cycles)*slots.Length + slotsOverhead
			if g.Brief && l.Duration >= WindowsFrom {
				each += windowsTime / time.Duration(max(l.Blocks, 1))
			}
		}
		block += time.Duration(g.Runs) * each
	}
	return block
}

// All is about what all blocks take.
func (l Lengths) All(groups []Timed) time.Duration { return time.Duration(l.Blocks) * l.Block(groups) }

// Lasting are lengths with a duration, and a warm-up that goes with it where there is none.
func (l Lengths) Lasting(duration result.Seconds) Lengths {
	l.Duration = duration
	l.Warmup = cmp.Or(l.Warmup, rounded(max(LeastWarmup, duration/4)))
	return l
}

// rounded is a time in whole milliseconds.
func rounded(s result.Seconds) result.Seconds {
	return result.Seconds(math.Round(float64(s)*1e3) / 1e3)
}

// Buys is for how long each run is measured in a block where the plan does not say so: the time
// that a plan may take is divided between its runs, so that few are measured for longer. slots:
// where they can, they take turns. within: what they may take together, where that is less; 0: it is not.
func (l Lengths) Buys(groups []Timed, slots bool, within time.Duration) result.Seconds {
	if within == 0 {
		within = time.Hour
	}
	if slots {
		longer := func(ms int) bool { return l.Lasting(result.Seconds(ms+1)/1e3).All(groups) > min(within, slotsBudget) }
		return rounded(min(longestWindow, max(LeastTogether, result.Seconds(sort.Search(int(longestWindow*1e3), longer))/1e3)))
	}
	runs := 0
	for _, g := range groups {
		runs += g.Runs
	}
	all := min(budget, result.Seconds(within.Seconds()))
	each := all/result.Seconds(max(1, runs*l.Blocks))/1.25 - result.Seconds(runOverhead.Seconds()) // a quarter is warm-up
	return rounded(min(longestWindow, max(leastWindow, each)))
}

// Blocks is how many blocks of some length fit into a time: as many as an interval needs at least.
func Blocks(within, block time.Duration) int { return max(LeastBlocks, int(within/block)) }

// Within are the lengths with which all blocks take no longer than a time, and whether they can.
func (l Lengths) Within(groups []Timed, within time.Duration) (Lengths, bool) {
	for l.All(groups) > within {
		if l.Duration <= LeastTogether {
			return l, false
		}
		l.Duration = max(l.Duration*0.8, LeastTogether)
		l.Warmup = min(l.Warmup, max(LeastWarmup, l.Duration/4))
	}
	return l, true
}
