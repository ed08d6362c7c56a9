package experiment

import (
	mathrand "math/rand/v2"
	"slices"
	"time"

	"tare/result"
	"tare/weigh"
)

// looking is a run that has no fixed number of blocks: it stops measuring what is
// decided, and spends the time on the rest.
type looking struct {
	began   time.Time
	in      time.Duration // that the plan's blocks would take with all cells
	most    int           // blocks in the plan's most time, where that is known; 0: it is not
	decided map[*result.Cell]bool
}

// look lets the cells that are decided go, where a group has as many blocks as a look
// needs. A group without others is done.
func (r *runner) look() {
	if !r.plan.Looks {
		return
	}
	cells := make([]*result.Cell, len(r.order))
	for n, key := range r.order {
		cells[n] = r.cells[key]
	}
	for _, g := range weigh.GroupsOf(cells) {
		if g.Baseline == nil {
			continue
		}
		rate, due := weigh.Look(g.Measured(), r.mostLooked())
		if !due {
			continue
		}
		open := false
		for _, c := range g.Cells {
			if c != g.Baseline && !r.looks.decided[c] {
				r.looks.decided[c] = g.Decided(c, r.plan.Margin, rate) && enoughCPU(c)
				open = open || !r.looks.decided[c]
			}
		}
		r.looks.decided[g.Baseline] = !open && len(g.Cells) > 1
	}
}

// enoughCPU reports whether a cell's CPU cost will be known, if it is counted.
func enoughCPU(c *result.Cell) bool {
	counted := weigh.CPUWindow(c)
	return counted == 0 || counted >= weigh.LeastCPUWindow
}

// wants reports whether a cell is still to be measured.
func (r *runner) wants(n int, p place) bool { return !r.looks.decided[r.cells[keyOf(n, p)]] }

// wanted are the runs of a block, in random order: those of cells that are still to be
// measured.
func (r *runner) wanted(block int) []visit {
	return slices.DeleteFunc(r.shuffled(block), func(v visit) bool { return !r.due(v.group, block) || !r.wants(v.group, v.place) })
}

// shuffled are all runs of a block, in the random order of that block; those of groups that
// take turns together are together.
func (r *runner) shuffled(block int) []visit {
	rng := mathrand.New(mathrand.NewPCG(r.plan.Seed, uint64(block)))
	var visits []visit
	for _, first := range rng.Perm(len(r.groups)) {
		var own []visit
		for n, g := range r.groups {
			if r.leader(n) != first {
				continue
			}
			for _, p := range g.places {
				own = append(own, visit{n, p})
			}
		}
		rng.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
		visits = append(visits, own...)
	}
	return visits
}

// leader is the first of the groups that a group takes turns with: of those that differ in the
// version of IP alone, which are held against each other too.
func (r *runner) leader(n int) int {
	if len(r.plan.IP) < 2 || !takesTurns(r.plan, r.groups[n]) {
		return n
	}
	own := r.groups[n]
	return slices.IndexFunc(r.groups, func(g group) bool {
		return g.path == own.path && g.workload == own.workload && g.nic == own.nic && g.link == own.link && g.mtu == own.mtu
	})
}

// blocksOf is how many blocks a group has at most.
func (r *runner) blocksOf(n int) int {
	blocks := r.plan.Blocks
	if r.plan.Looks {
		blocks = r.mostLooked()
	}
	if t := r.turns[r.leader(n)]; t != nil {
		blocks += t.again
	}
	return blocks
}

// mostLooked is after how many blocks the run has its last look.
func (r *runner) mostLooked() int { return max(weigh.MostLooked, r.looks.most) }

// planLooks spreads the looks of a run over the time that it may take, once it is known
// what its blocks take: before the first look.
func (r *runner) planLooks(blocks int) {
	if limit := r.plan.MaxTime.Duration(); r.plan.Looks && limit > 0 && blocks == leastBlocks {
		each := time.Since(r.looks.began) / leastBlocks
		r.looks.most = int((limit - r.looks.began.Sub(r.started)) / max(each, 1))
	}
}

// due reports whether a group is to be measured in a block.
func (r *runner) due(n, block int) bool {
	return block < r.blocksOf(n) && slices.ContainsFunc(r.groups[n].places, func(p place) bool { return r.wants(n, p) })
}

// anyDue reports whether a group is.
func (r *runner) anyDue(block int) bool {
	for n := range r.groups {
		if r.due(n, block) {
			return true
		}
	}
	return false
}

// inTime reports whether a run that looks has time for another block that takes as long
// as the one before. In all it has as much as the plan's blocks would take with all cells;
// a run with a most time has that.
func (r *runner) inTime(blocks int, took time.Duration) bool {
	if !r.plan.Looks || r.plan.MaxTime > 0 {
		return true
	}
	since := time.Since(r.looks.began)
	if len(r.looks.decided) == 0 {
		r.looks.in = since + time.Duration(r.plan.Blocks-blocks)*took
	}
	return since+took/2 <= r.looks.in
}
