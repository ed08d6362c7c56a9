package experiment

import (
	"cmp"
	"context"
	"errors"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"time"

	"tare/agent"
	"tare/network"
	"tare/result"
	"tare/traffic"
	"tare/weigh"
	"tare/workload"
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
)

// How long before the first slot a block's runs are started: for all of them, and
// for each.
const (
	slotLead     = 30 * time.Millisecond
	slotLeadEach = 6 * time.Millisecond
	leadMessages = 4 // to a place and back
)

// takesTurns reports whether the runs of a group alternate in slots. Tools of others
// do not, nor does what fills a link's bucket in the pauses, nor what a neighbour disturbs,
// which runs for as long as a window, nor what can't pause. A path within
// a host has no link.
func takesTurns(p result.Plan, g group) bool {
	kind, _ := workload.Find(g.workload.Name)
	run := runOf(p, g.workload)
	plain := run.Tool == "" && run.Rate == 0 && run.Bytes == 0 && !run.Reverse && !run.Bidir
	linked := !p.Wire.IsZero()
	pausing := true
	for _, at := range g.places {
		linked = linked || at.link > 0
		pausing = pausing && pauses(g.workload, at.network)
	}
	linked = linked && !network.Within(g.path)
	few := kind.SlotFlows == 0 || run.Flows <= kind.SlotFlows
	return p.Design == result.DesignSlots && kind.Slot > 0 && few && plain && !linked && !hasNeighbour(p) && pausing && run.Mode == kind.Modes[0]
}

// arm is one run of a group whose runs take turns.
type arm struct {
	visit
	ends  network.Ends
	run   workload.Run
	count func(*result.Sample)
	out   agent.Outcome
	err   error

	sample result.Sample
}

// takeTurns measures a block of a group: all of its cells, in alternation. As a run in
// a window has, the block has a second chance where one of them fails; also where one is
// late for too many of its slots, in a plan that has just as many blocks as it needs.
func (r *runner) takeTurns(ctx context.Context, visits []visit, block, order int) error {
	r.done += len(visits)
	visits = slices.DeleteFunc(slices.Clone(visits), func(v visit) bool { return r.cells[keyOf(v.group, v.place)].Status != result.StatusOK })
	if len(visits) == 0 {
		return nil
	}
	r.daemons.watch(ctx)
	arms, err := r.alternate(ctx, visits, block)
	if err == nil && (slices.ContainsFunc(arms, (*arm).failed) || !r.plan.Looks && late(arms, r.groups[visits[0].group].workload.Name)) {
		first := arms
		arms, err = r.alternate(ctx, visits, block)
		for at, a := range arms {
			if failed := first[at].err; failed != nil && a.err == nil {
				a.sample.Warnings = append(a.sample.Warnings, repeatedAfter(failed))
			}
		}
	}
	if err != nil {
		return err
	}
	for at, a := range arms {
		r.keep(a.visit, a.sample, a.err, block, order+at)
	}
	r.lengthen(r.leader(visits[0].group))
	return nil
}

// failed reports whether an arm failed and may succeed in a second try.
func (a *arm) failed() bool { return a.err != nil && !final(a.err) }

// late reports whether a block gives some network no toll on its headline.
func late(arms []*arm, name string) bool {
	baselines := map[int][]result.Sample{} // by group
	for _, a := range arms {
		if a.place.network.Name == network.Baseline && a.err == nil {
			baselines[a.group] = append(baselines[a.group], a.sample)
		}
	}
	kind, _ := workload.Find(name)
	return slices.ContainsFunc(arms, func(a *arm) bool {
		return a.err == nil && a.place.network.Name != network.Baseline && !weigh.Paired(kind.Headline, a.sample, baselines[a.group]...)
	})
}

// alternate runs the cells of a group in alternation, once.
func (r *runner) alternate(ctx context.Context, visits []visit, block int) ([]*arm, error) {
	n := r.leader(visits[0].group)
	g := r.groups[n]
	var arms []*arm
	for _, v := range visits {
		a := &arm{visit: v, run: runOf(r.plan, g.workload)}
		var served bool
		if a.ends, served = r.ends[v.place.cluster][g.path]; !served {
			a.err = noEnds(g.path, v.place.cluster)
		} else {
			_, a.err = r.pairOf(ctx, v.place.cluster, a.ends) // now, not in its slots
		}
		arms = append(arms, a)
	}
	for n, own := range r.ownPlaces(arms) {
		if a := arms[n]; a.err == nil {
			a.count = r.countPlaces(ctx, a.place.cluster, own, a.ends)
		}
	}
	slot := r.slotOf(n)
	if err := r.timetable(ctx, arms, slot, block); err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	for _, a := range arms {
		if a.err == nil {
			all.Go(func() {
				a.out, a.err = r.outcome(ctx, a.place.cluster, a.ends, r.portOf(a.place.cluster, a.ends), g.workload.Name, a.run)
			})
		}
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, a := range arms {
		if a.err == nil {
			a.sample, a.err = r.sample(a.out, cmp.Or(a.run.CC, r.plan.CC))
		}
		if a.count != nil {
			a.count(&a.sample)
		}
		if a.err == nil {
			a.err = a.describe()
		}
	}
	return arms, nil
}

// describe writes into an arm's sample how its slots were.
func (a *arm) describe() error {
	taken, table := a.sample.Slots, a.run.Slots
	if taken == nil {
		return errors.New("the ends gave no slots")
	}
	taken.Length, taken.Window = result.Seconds(table.Length.Seconds()), result.Seconds(table.Window.Seconds())
	for cycle := range table.Cycles {
		taken.Places = append(taken.Places, table.Place(table.Warmup+cycle))
	}
	return nil
}

// timetable gives each arm its slots.
func (r *runner) timetable(ctx context.Context, arms []*arm, slot time.Duration, block int) error {
	now, took, err := r.now(ctx, arms[0].place.cluster+"."+arms[0].ends.Client)
	if err != nil {
		return err
	}
	lead := slotLead + time.Duration(len(arms))*slotLeadEach + leadMessages*took
	common := shapeOf(r.plan, r.groups[arms[0].group], slot)
	common.Begin, common.Runs = now+lead, len(arms)
	common.Seed = mathrand.New(mathrand.NewPCG(r.plan.Seed, uint64(block))).Uint64()
	if common.Window = r.windowOf(arms, common); common.Window > 0 {
		common.Warmup = leastWarmup
	}
	for n, a := range arms {
		own := common
		own.Run = n
		a.run.Slots, a.run.Interval = &own, 0
		a.run.Warmup, a.run.Duration = lead, own.Span()
	}
	return nil
}

// shapeOf is how a block of a group is divided into slots of a length, where its runs have
// no window before them.
func shapeOf(p result.Plan, g group, slot time.Duration) traffic.Slots {
	ends := time.Duration(float64(slot) * slotEnds)
	kind, _ := workload.Find(g.workload.Name)
	s := traffic.Slots{Length: slot, Settle: max(ends, leastSettle, kind.Settle), Guard: ends}
	s.Warmup = max(leastWarmup, slotsIn(p.Warmup.Duration()/2, slot))
	s.Cycles = max(leastCycles, slotsIn(p.Duration.Duration(), slot-s.Settle-s.Guard))
	return s
}

// slotsIn is how many slots have so much time together.
func slotsIn(time, slot time.Duration) int { return int(math.Ceil(time.Seconds() / slot.Seconds())) }
