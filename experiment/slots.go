package experiment

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"tare/agent"
	"tare/experiment/schedule"
	"tare/network"
	"tare/result"
	"tare/traffic"
	"tare/weigh"
	"tare/workload"
)

// How long before the first slot a block's runs are started: for all of them, and
// for each.
const (
	slotLead     = 30 * time.Millisecond
	slotLeadEach = 6 * time.Millisecond
	leadMessages = 4 // to a place and back
)

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
	for _, n := range r.schedule.Turned(visits[0].group, r.tooShort) {
		r.forget(n)
	}
	return nil
}

// tooShort reports whether the slots of cells were.
func (r *runner) tooShort(numbers []int) bool {
	var cells []*result.Cell
	for _, n := range numbers {
		cells = append(cells, r.cells[r.order[n]])
	}
	return weigh.TooShort(cells)
}

// forget forgets what was measured of a cell.
func (r *runner) forget(n int) {
	cell := r.cells[r.order[n]]
	cell.Samples = nil
	delete(r.missed, cell)
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
	g := r.groups[visits[0].group]
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
	if err := r.timetable(ctx, arms, block); err != nil {
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
func (r *runner) timetable(ctx context.Context, arms []*arm, block int) error {
	now, took, err := r.now(ctx, arms[0].place.cluster+"."+arms[0].ends.Client)
	if err != nil {
		return err
	}
	lead := slotLead + time.Duration(len(arms))*slotLeadEach + leadMessages*took
	kind, _ := workload.Find(r.groups[arms[0].group].workload.Name)
	slots := lengthsOf(r.plan).Slots(r.schedule.Slot(arms[0].group), kind.Settle)
	window := r.windowOf(arms, slots)
	if window > 0 {
		slots = slots.AfterWindow()
	}
	common := traffic.Slots{
		Begin: now + lead, Window: window, Length: slots.Length, Settle: slots.Settle, Guard: slots.Guard,
		Runs: len(arms), Warmup: slots.Warmup, Cycles: slots.Cycles, Seed: r.schedule.Order(block),
	}
	for n, a := range arms {
		own := common
		own.Run = n
		a.run.Slots, a.run.Interval = &own, 0
		a.run.Warmup, a.run.Duration = lead, own.Span()
	}
	return nil
}

// windowOf is how long the window is that each run has before its slots, where these are
// too short to count CPU time in: in six blocks it is enough. Zero: every cell has enough,
// or the plan has no time for them.
func (r *runner) windowOf(arms []*arm, slots schedule.Slots) time.Duration {
	short := slices.ContainsFunc(arms, func(a *arm) bool {
		return a.err == nil && weigh.CPUWindow(r.cells[keyOf(a.group, a.place)]) < weigh.LeastCPUWindow
	})
	if !short || slots.Length >= agent.LeastSlot || r.plan.Duration < schedule.WindowsFrom {
		return 0
	}
	return slots.Window(weigh.LeastCPUWindow, r.plan.Blocks)
}
