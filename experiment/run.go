package experiment

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"time"

	"tare/agent"
	"tare/experiment/schedule"
	"tare/probe"
	"tare/result"
	"tare/site"
	"tare/weigh"
)

// seriesStep is the step of the series within a window.
const seriesStep = 100 * time.Millisecond

// Site is what an experiment needs of the place where its ends run.
type Site interface {
	Agent(ctx context.Context, at, role string) (*agent.Handle, error)
	Look(ctx context.Context, at string) ([]probe.Inventory, error)
}

// Options are what a run needs in addition to its plan.
type Options struct {
	Site     Site
	Topology site.Topology
	Tool     result.Tool
	// Save is called after every block with the result so far.
	Save func(*result.Result) error
	// Progress is called between windows, never inside one.
	Progress func(Progress)
	// SoFar is called between blocks: with how many are measured, in what time, and with what weighs
	// them, which takes about 5 ms for the quick plan. nil: nobody asks.
	SoFar func(blocks int, took time.Duration, weighed func() *result.Result)
	// Turn is called before each block with how many are done, and after the last: it waits
	// until the block may begin, and reports whether it shall. nil: at once.
	Turn func(ctx context.Context, done int) (more bool, err error)
	// Yield ends the run where others need its machines: it looks between blocks.
	Yield bool

	only  []group // nil: all groups of the plan
	whole int     // end once so many blocks give every cell a toll; 0: after the plan's blocks
}

// Progress is how far a run is.
type Progress struct {
	Block, Blocks int           // blocks done, blocks planned; 0: a run that looks ends once all is decided
	Done, Total   int           // runs; 0 as well
	Left          time.Duration // at most, where the blocks are not known; 0: it is not known
	Checking      bool          // the functional check, before the first block
	Starting      int           // real servers that are being started, before the first block
	Pause         time.Duration // in which nothing is sent: the plan's most rate; 0: there is none
}

// runner is one experiment under way: the schedule decides what is measured, the conductor has
// it measured, and the recorder keeps it.
type runner struct {
	Options
	plan      result.Plan
	groups    []group
	schedule  *schedule.Schedule
	conductor *conductor
	recorder  *recorder
	share     *schedule.Share
	tuned     tuned
	started   time.Time
	done      int
}

// Run measures a completed and checked plan on a site that has been built. It
// returns what was measured also when it is interrupted.
func Run(ctx context.Context, plan result.Plan, o Options) (res *result.Result, err error) {
	r, err := equipped(ctx, plan, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.conductor.close()) }()
	err = r.blocks(ctx)
	res = r.finish(ctx, err == nil)
	Referee(res)
	if len(plan.Needs) > 0 {
		res.Rankings = weigh.Rank(res)
	}
	res.Growths = weigh.Growths(res)
	res.Comparisons = weigh.Comparisons(res)
	return res, errors.Join(err, o.Save(res))
}

// finish weighs what was measured, of which nothing more will be.
func (r *runner) finish(ctx context.Context, whole bool) *result.Result {
	if whole {
		r.recorder.res.Finished = time.Now().UTC().Format(time.RFC3339)
	}
	times, err := r.conductor.cpuTimes(context.WithoutCancel(ctx))
	r.recorder.disturbed(r.conductor.daemons.result(), times, err)
	r.recorder.failUnmeasured()
	r.recorder.last = true
	r.recorder.weigh()
	return r.recorder.res
}

// equipped is a runner that knows the versions of its servers and clients.
func equipped(ctx context.Context, plan result.Plan, o Options) (*runner, error) {
	r, err := newRunner(plan, o)
	if err != nil {
		return nil, err
	}
	versions, err := equipment(ctx, plan)
	if err != nil {
		return nil, errors.Join(err, r.conductor.close())
	}
	maps.Copy(r.recorder.res.Environment.Parts, versions)
	return r, nil
}

func newRunner(plan result.Plan, o Options) (*runner, error) {
	if plan.Seed == 0 {
		plan.Seed = uint64(time.Now().UnixNano())
	}
	id, err := newID()
	if err != nil {
		return nil, err
	}
	env := environmentOf(o.Topology)
	if env.Emulated() {
		plan = unhurried(plan)
	}
	groups := o.only
	if groups == nil {
		groups = groupsOf(plan)
	}
	res := &result.Result{
		Schema: result.Schema, ID: id, Tool: o.Tool, Site: cmp.Or(plan.Site, result.SiteLab), Plan: plan, Environment: env,
		Started: time.Now().UTC().Format(time.RFC3339), Places: o.Topology.Places,
	}
	c := newConductor(plan, o)
	r := &runner{Options: o, plan: plan, groups: groups, conductor: c, recorder: newRecorder(res, groups, c.built), tuned: tuned{}, started: time.Now()}
	c.unread = r.recorder.unread
	r.schedule, r.share = scheduleOf(plan, groups, r.started), schedule.NewShare(float64(plan.MaxRate), r.started)
	if warning := onIPv4Alone(plan); warning != "" {
		r.recorder.warn(warning)
	}
	return r, nil
}

// environmentOf is where a run is, with the real parts of what was built.
func environmentOf(t site.Topology) result.Environment {
	var env result.Environment
	if len(t.Places) > 0 {
		env = t.Places[0].Environment
	} else {
		env = probe.Environment("/")
	}
	env.Privilege = t.Privilege
	env.Parts = map[string]string{}
	env.LabUp, env.LabMemoryBytes = result.Seconds(t.Up), t.Memory
	for _, b := range t.Clusters {
		maps.Copy(env.Parts, b.Parts)
	}
	return env
}

// newID draws the name of a result.
func newID() (string, error) {
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return "", fmt.Errorf("draw the result's id: %w", err)
	}
	return hex.EncodeToString(id), nil
}

// prepare looks at the machine, runs the functional check and starts the real
// servers.
func (r *runner) prepare(ctx context.Context) error {
	loads, err := r.conductor.loads(ctx)
	if err != nil {
		return err
	}
	r.recorder.gate(loads)
	if err := errors.Join(r.checkPaths(ctx), r.checkOutside(ctx)); err != nil {
		return err
	}
	return r.startServers(ctx)
}

// blocks measures block after block.
func (r *runner) blocks(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	r.recorder.res.States = r.conductor.states(ctx, r.groups)
	r.schedule.Begin(time.Now())
	for block := 0; ; block++ {
		if more, err := r.turn(ctx, block); err != nil || !more {
			return err
		}
		if block > 0 && r.SoFar != nil {
			r.SoFar(block, r.schedule.Measured(time.Now()), r.recorder.soFar)
		}
		start := time.Now()
		if err := r.block(ctx, block); err != nil {
			return err
		}
		lost, err := r.conductor.lost(ctx)
		if err != nil {
			return err
		}
		r.recorder.lose(lost)
		r.recorder.weighSome(time.Since(start))
		if err := r.Save(r.recorder.res); err != nil {
			return err
		}
		if r.schedule.Precise(block+1, r.recorder.halves()) || r.whole > 0 && r.recorder.whole() >= r.whole {
			break
		}
		if wanted, err := r.wantedByOthers(ctx, block+1); err != nil || wanted {
			return err
		}
		now := time.Now()
		more, cut := r.schedule.Ended(block+1, now.Sub(start), now, r.recorder.compared())
		if cut {
			r.recorder.warn(fmt.Sprintf("max-time: stopped after %d of %d blocks", block+1, r.plan.Blocks))
		}
		if !more {
			break
		}
	}
	return nil
}

// wantedByOthers reports, after a block of a run that yields, whether others need a machine.
func (r *runner) wantedByOthers(ctx context.Context, blocks int) (bool, error) {
	if !r.Yield {
		return false, nil
	}
	loads, err := r.conductor.loads(ctx)
	return err == nil && r.recorder.wantedByOthers(loads, blocks), err
}

// turn reports whether there is another block, once it may begin.
func (r *runner) turn(ctx context.Context, block int) (more bool, err error) {
	more = true
	if r.Turn != nil {
		more, err = r.Turn(ctx, block)
	}
	return more && err == nil && r.schedule.Due(block), err
}

// block visits every cell once that is still to be measured, in the block's order.
func (r *runner) block(ctx context.Context, block int) error {
	visits := r.visited(r.schedule.Visits(block))
	for order := 0; order < len(visits); {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.progress(block)
		v, together := visits[order], 1
		if err := r.spare(ctx, v); err != nil {
			return err
		}
		began := time.Now()
		var err error
		if r.inSlots(v.group) {
			for order+together < len(visits) && r.with(visits[order+together]) == r.with(v) {
				together++
			}
			err = r.takeTurns(ctx, visits[order:order+together], block, order)
		} else {
			err = r.visit(ctx, v, block, order)
		}
		if err != nil {
			return err
		}
		r.spent(visits[order:order+together], block, time.Since(began))
		order += together
	}
	if !r.plan.Looks { // which may have no further block
		r.progress(block + 1)
	}
	return nil
}

// inSlots reports whether a group takes turns, and its slots are of use.
func (r *runner) inSlots(group int) bool {
	return takesTurns(r.plan, r.groups[group]) && r.schedule.Slot(group) > 0
}

// with is the first of the groups that a visit takes turns with.
func (r *runner) with(v visit) int { return r.schedule.Groups[v.group].With }

// visit does one run of a block. A cell fails with its agent, or when it has
// missed too often.
func (r *runner) visit(ctx context.Context, v visit, block, order int) error {
	r.done++
	if !r.recorder.measurable(v) {
		return nil
	}
	g, daemons := r.groups[v.group], &r.conductor.daemons
	run := runOf(r.plan, g.workload)
	if takesTurns(r.plan, g) { // which its slots were useless to
		run = windowed(run)
	}
	if samples := r.recorder.cell(v).Samples; len(samples) > 0 && run.Tool != "" {
		run.Expect = samples[len(samples)-1].Metrics["rate"]
	}
	before, began := daemons.read(ctx), time.Now()
	sample, err := r.conductor.measureTwice(ctx, v.place, g.path, g.workload.Name, run)
	daemons.add(v.place.cluster, before, daemons.read(ctx), time.Since(began))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.recorder.keep(v, sample, err, block, order)
	return nil
}

func (r *runner) progress(block int) {
	if r.plan.Looks {
		r.Progress(Progress{Block: block, Done: r.done, Left: r.schedule.Left(time.Now())})
		return
	}
	p := Progress{Block: min(block, r.plan.Blocks), Blocks: r.plan.Blocks, Done: r.done, Total: max(r.done, r.schedule.Runs()*r.plan.Blocks)}
	if r.done > 0 {
		p.Left = time.Duration(float64(time.Since(r.started)) / float64(r.done) * float64(p.Total-p.Done))
	}
	r.Progress(p)
}
