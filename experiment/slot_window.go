package experiment

import (
	"slices"
	"time"

	"tare/agent"
	"tare/stats"
	"tare/traffic"
	"tare/weigh"
)

// windowsFrom is how long a cell must be measured in a block so that a plan has time for
// windows too.
const windowsFrom = 0.060 // s

// windowRoom makes windows longer than they need be, since their edges are events.
const windowRoom = 1.02

// windowOf is how long the window is that each run has before its slots, where these are
// too short to count CPU time in: in six blocks it is enough. Zero: every cell has enough,
// or the plan has no time for them.
func (r *runner) windowOf(arms []*arm, slots traffic.Slots) time.Duration {
	short := slices.ContainsFunc(arms, func(a *arm) bool {
		return a.err == nil && weigh.CPUWindow(r.cells[keyOf(a.group, a.place)]) < weigh.LeastCPUWindow
	})
	if !short || slots.Length >= agent.LeastSlot || r.plan.Duration < windowsFrom {
		return 0
	}
	need := windowRoom * weigh.LeastCPUWindow / float64(min(stats.MinBlocks, r.plan.Blocks))
	settles := float64(slots.Settle) / float64(slots.Length)
	return time.Duration((need*float64(time.Second) + float64(slots.Guard)) / (1 - settles))
}
