package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"tare/agent"
	"tare/catalog"
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
	path     string
	workload result.WorkloadPlan
	brief    bool // its cell has not been measured long enough to know its CPU cost

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
	visits = slices.DeleteFunc(slices.Clone(visits), func(v visit) bool { return !r.recorder.measurable(v) })
	if len(visits) == 0 {
		return nil
	}
	r.conductor.daemons.watch(ctx)
	g := r.groups[visits[0].group]
	kind, _ := workload.Find(g.workload.Name)
	slots := lengthsOf(r.plan).Slots(r.schedule.Slot(visits[0].group), kind.Settle)
	alternate := func() ([]*arm, error) {
		var arms []*arm
		for _, v := range visits {
			brief := weigh.CPUWindow(r.recorder.cell(v)) < weigh.LeastCPUWindow
			arms = append(arms, &arm{visit: v, path: g.path, workload: g.workload, brief: brief})
		}
		err := r.conductor.alternate(ctx, arms, slots, r.schedule.Order(block))
		for _, a := range arms {
			r.tuned.add(r.recorder.cell(a.visit), a.sample, kind.Headline)
		}
		return arms, err
	}
	arms, err := alternate()
	if err == nil && (slices.ContainsFunc(arms, (*arm).failed) || !r.plan.Looks && late(arms, kind.Headline)) {
		first := arms
		arms, err = alternate()
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
		r.recorder.keep(a.visit, a.sample, a.err, block, order+at)
	}
	r.fit(visits[0].group)
	return nil
}

// failed reports whether an arm failed and may succeed in a second try.
func (a *arm) failed() bool { return a.err != nil && !final(a.err) }

// late reports whether a block gives some network no toll on its headline.
func late(arms []*arm, headline string) bool {
	baselines := map[int][]result.Sample{} // by group
	for _, a := range arms {
		if a.place.network.Name == catalog.Baseline && a.err == nil {
			baselines[a.group] = append(baselines[a.group], a.sample)
		}
	}
	return slices.ContainsFunc(arms, func(a *arm) bool {
		return a.err == nil && a.place.network.Name != catalog.Baseline && !weigh.Paired(headline, a.sample, baselines[a.group]...)
	})
}

// alternate has arms take turns once, in slots whose order has a seed.
func (c *conductor) alternate(ctx context.Context, arms []*arm, slots schedule.Slots, seed uint64) error {
	for _, a := range arms {
		a.run = runOf(c.plan, a.workload)
		var served bool
		if a.ends, served = c.built.ends(a.place.cluster, a.path); !served {
			a.err = noEnds(a.path, a.place.cluster)
		} else {
			_, a.err = c.pairOf(ctx, a.place.cluster, a.ends) // now, not in its slots
		}
	}
	for n, own := range c.ownPlaces(arms) {
		if a := arms[n]; a.err == nil {
			a.count = c.countPlaces(ctx, a.place.cluster, own, a.ends)
		}
	}
	if err := c.timetable(ctx, arms, slots, seed); err != nil {
		return err
	}
	var all sync.WaitGroup
	for _, a := range arms {
		if a.err == nil {
			all.Go(func() {
				a.out, a.err = c.outcome(ctx, a.place.cluster, a.ends, c.built.port(a.place.cluster, a.ends), a.workload.Name, a.run)
			})
		}
	}
	all.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, a := range arms {
		if a.err == nil {
			a.sample, a.err = c.sample(a.out, cmp.Or(a.run.CC, c.plan.Axes.Word("cc")))
		}
		if a.count != nil {
			a.count(&a.sample)
		}
		if a.err == nil {
			a.err = a.describe()
		}
	}
	return nil
}

// describe writes into an arm's sample how its slots were.
func (a *arm) describe() error {
	taken, table := a.sample.Slots, a.run.Slots
	if taken == nil {
		return errors.New("the ends gave no slots")
	}
	for metric, values := range taken.Values {
		if !slices.ContainsFunc(values, func(v float64) bool { return v > 0 }) {
			return fmt.Errorf("%s: none of %d slots counted: each began late, or nothing came; see what else keeps the CPUs busy (top), or weigh in windows (--design windows)", metric, len(values))
		}
	}
	taken.Length, taken.Window = result.Seconds(table.Length.Seconds()), result.Seconds(table.Window.Seconds())
	for cycle := range table.Cycles {
		taken.Places = append(taken.Places, table.Place(table.Warmup+cycle))
	}
	return nil
}

// timetable gives each arm its slots.
func (c *conductor) timetable(ctx context.Context, arms []*arm, slots schedule.Slots, seed uint64) error {
	now, took, err := c.now(ctx, arms[0].place.cluster+"."+arms[0].ends.Client)
	if err != nil {
		return err
	}
	lead := slotLead + time.Duration(len(arms))*slotLeadEach + leadMessages*took
	window := c.windowOf(arms, slots)
	if window > 0 {
		slots = slots.AfterWindow()
	}
	for n, a := range arms {
		own := traffic.Slots{
			Begin: now + lead, Window: window, Length: slots.Length, Settle: slots.Settle, Guard: slots.Guard,
			Runs: len(arms), Run: n, Warmup: slots.Warmup, Cycles: slots.Cycles, Seed: seed,
		}
		a.run.Slots, a.run.Interval = &own, 0
		a.run.Warmup, a.run.Duration = lead, own.Span()
	}
	return nil
}

// windowOf is how long the window is that each run has before its slots, where these are
// too short to count CPU time in: in six blocks it is enough. Zero: every cell has enough,
// or the plan has no time for them.
func (c *conductor) windowOf(arms []*arm, slots schedule.Slots) time.Duration {
	brief := slices.ContainsFunc(arms, func(a *arm) bool { return a.err == nil && a.brief })
	if !brief || slots.Length >= agent.LeastSlot || c.plan.Duration < schedule.WindowsFrom {
		return 0
	}
	return slots.Window(weigh.LeastCPUWindow, c.plan.Blocks)
}
