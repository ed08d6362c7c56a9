package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tare/agent"
	"tare/network"
	"tare/result"
	"tare/traffic"
	"tare/workload"
)

const (
	// slotWarmup is how many cycles of a block do not count: its connections are new.
	slotWarmup = 2
	// leastCycles is how many cycles of a block count at least.
	leastCycles = 4
	// slotGuard is the share of a slot at each of its ends where nothing is counted.
	slotGuard = 0.1
)

// How long before the first slot a block's runs are started: for all of them, and
// for each.
const (
	slotLead     = 40 * time.Millisecond
	slotLeadEach = 8 * time.Millisecond
)

// takesTurns reports whether the runs of a group alternate in slots. Servers and
// tools of others do not, nor does what fills a link's bucket in the pauses.
func takesTurns(p result.Plan, g group) bool {
	kind, _ := workload.Find(g.workload.Name)
	run := runOf(p, g.workload)
	plain := run.Server == "" && run.Tool == "" && run.Rate == 0 && run.Bytes == 0 && !run.Reverse && !run.Bidir
	linked := false
	for _, at := range g.places {
		linked = linked || at.link > 0
	}
	return p.Design == result.DesignSlots && kind.Slot > 0 && plain && !linked && run.Mode == kind.Modes[0]
}

// arm is one run of a group whose runs take turns.
type arm struct {
	visit
	pair
	run   workload.Run
	count func(*result.Sample)
	out   agent.Outcome
	err   error
}

// takeTurns measures a block of a group: all of its cells, in alternation.
func (r *runner) takeTurns(ctx context.Context, visits []visit, block, order int) error {
	g := r.groups[visits[0].group]
	var arms []*arm
	for _, v := range visits {
		r.done++
		if r.cells[keyOf(v.group, v.place)].Status != result.StatusOK {
			continue
		}
		a := &arm{visit: v, run: runOf(r.plan, g.workload)}
		if ends, served := r.ends[v.place.cluster][g.path]; !served {
			a.err = noEnds(g.path, v.place.cluster)
		} else if a.pair, a.err = r.pairOf(ctx, v.place.cluster, ends); a.err == nil {
			a.run.Spin = r.spins(v.place.cluster, ends)
			a.run.SharedCPU = !a.run.Spin
			a.count = r.count(ctx, v.place.cluster, ends, inTurns)
		}
		arms = append(arms, a)
	}
	if err := r.timetable(arms, g, block); err != nil {
		return err
	}
	var all sync.WaitGroup
	for _, a := range arms {
		if a.err == nil {
			all.Go(func() { a.out, a.err = a.measure(ctx, network.Port, g.workload.Name, a.run) })
		}
	}
	all.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for n, a := range arms {
		var sample result.Sample
		if a.err == nil {
			sample, a.err = r.sample(a.out, r.plan.CC)
			a.count(&sample)
		}
		if a.err == nil && sample.Slots == nil {
			a.err = errors.New("the ends gave no slots")
		}
		if a.err == nil {
			for cycle := range a.run.Slots.Cycles {
				sample.Slots.Places = append(sample.Slots.Places, a.run.Slots.Place(a.run.Slots.Warmup+cycle))
			}
		}
		r.keep(a.visit, sample, a.err, block, order+n)
	}
	return nil
}

// timetable gives each arm its slots.
func (r *runner) timetable(arms []*arm, g group, block int) error {
	kind, _ := workload.Find(g.workload.Name)
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock); err != nil {
		return fmt.Errorf("read the clock: %w", err)
	}
	lead := slotLead + time.Duration(len(arms))*slotLeadEach
	common := traffic.Slots{
		Begin: time.Duration(clock.Nano()) + lead, Length: kind.Slot, Guard: time.Duration(float64(kind.Slot) * slotGuard),
		Runs: len(arms), Warmup: slotWarmup, Seed: mathrand.New(mathrand.NewPCG(r.plan.Seed, uint64(block))).Uint64(),
		Cycles: max(leastCycles, int(math.Ceil(float64(r.plan.Duration.Duration())/float64(kind.Slot)))),
	}
	for n, a := range arms {
		own := common
		own.Run = n
		a.run.Slots, a.run.Interval = &own, 0
		a.run.Warmup, a.run.Duration = lead, own.Span()
	}
	return nil
}
