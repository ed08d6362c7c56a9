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
	"tare/network"
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
	Block, Blocks int // blocks done, blocks planned
	Done, Total   int // runs
	Left          time.Duration
	Checking      bool          // the functional check, before the first block
	Starting      int           // real servers that are being started, before the first block
	Pause         time.Duration // in which nothing is sent: the plan's most rate; 0: there is none
}

// runner is one experiment under way.
type runner struct {
	Options
	plan       result.Plan
	groups     []group
	cells      map[cellKey]*result.Cell
	order      []cellKey // of the cells in the result
	rps        map[string]bool
	ends       map[string]map[string]network.Ends // cluster -> path -> ends
	cpus       map[string]map[string]string       // cluster -> host -> CPU list
	ports      map[string]uint16                  // cluster -> where its servers listen, if not at network.Port
	outside    map[string]*network.Ends           // cluster -> a container and the other host
	neighbours map[string]*network.Ends           // cluster -> the ends of its noisy neighbour
	sandboxes  map[string]bool                    // clusters whose containers are in sandboxes
	warned     map[string][]string                // cluster -> warnings for its numbers
	daemons    daemons
	res        *result.Result
	started    time.Time
	done       int
	gates      []string // warnings of the noise gates, for every number
	missed     map[*result.Cell][]string
	before     map[string]probe.Load // of each machine
	weighed    time.Duration         // what the last weighing took
	last       bool                  // nothing more will be measured
	schedule   *schedule.Schedule
	sources    sources
	share      *schedule.Share
}

// cellKey finds a cell; both baselines of a group are one cell.
type cellKey struct {
	group   int
	network string
	cluster string
}

// Run measures a completed and checked plan on a site that has been built. It
// returns what was measured also when it is interrupted.
func Run(ctx context.Context, plan result.Plan, o Options) (res *result.Result, err error) {
	r, err := equipped(ctx, plan, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	err = r.blocks(ctx)
	if err == nil {
		r.res.Finished = time.Now().UTC().Format(time.RFC3339)
	}
	r.finishNoise(ctx)
	r.failUnmeasured()
	r.last = true
	r.weigh()
	Referee(r.res)
	if len(plan.Needs) > 0 {
		r.res.Rankings = weigh.Rank(r.res)
	}
	r.res.Growths = weigh.Growths(r.res)
	r.res.Versions, r.res.Passengers, r.res.Neighbours = weigh.Versions(r.res), weigh.Passengers(r.res), weigh.Neighbours(r.res)
	return r.res, errors.Join(err, o.Save(r.res))
}

// equipped is a runner that knows the versions of its servers and clients.
func equipped(ctx context.Context, plan result.Plan, o Options) (*runner, error) {
	r, err := newRunner(plan, o)
	if err != nil {
		return nil, err
	}
	versions, err := equipment(ctx, plan)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	maps.Copy(r.res.Environment.Parts, versions)
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
	env := probe.Environment("/")
	if len(o.Topology.Places) > 0 {
		env = o.Topology.Places[0].Environment
	}
	env.Privilege = o.Topology.Privilege
	env.Parts = map[string]string{}
	env.LabUp, env.LabMemoryBytes = result.Seconds(o.Topology.Up), o.Topology.Memory
	for _, b := range o.Topology.Clusters {
		maps.Copy(env.Parts, b.Parts)
	}
	if env.Emulated() {
		plan = unhurried(plan)
	}
	r := &runner{
		Options: o, plan: plan, groups: o.only,
		cells: map[cellKey]*result.Cell{}, rps: map[string]bool{},
		ends: map[string]map[string]network.Ends{}, cpus: map[string]map[string]string{}, ports: map[string]uint16{}, warned: map[string][]string{},
		outside: map[string]*network.Ends{}, neighbours: map[string]*network.Ends{}, sandboxes: map[string]bool{}, missed: map[*result.Cell][]string{}, started: time.Now(),
		share: schedule.NewShare(float64(plan.MaxRate), time.Now()),
	}
	if r.groups == nil {
		r.groups = groupsOf(plan)
	}
	r.schedule = scheduleOf(plan, r.groups, r.started)
	r.daemons = daemonsOf(o.Site, o.Topology)
	r.sources = sourcesOf(o.Site)
	r.res = &result.Result{
		Schema: result.Schema, ID: id, Tool: o.Tool, Site: cmp.Or(plan.Site, result.SiteLab), Plan: plan, Environment: env,
		Started: time.Now().UTC().Format(time.RFC3339), Places: o.Topology.Places,
	}
	if warning := onIPv4Alone(plan); warning != "" {
		r.res.Warnings = append(r.res.Warnings, warning)
	}
	r.makeCells()
	return r, nil
}

// close closes what the runner reads from.
func (r *runner) close() error {
	if r.sources.machine == nil {
		return nil
	}
	return r.sources.machine.Close()
}

// newID draws the name of a result.
func newID() (string, error) {
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return "", fmt.Errorf("draw the result's id: %w", err)
	}
	return hex.EncodeToString(id), nil
}

func keyOf(group int, c place) cellKey {
	if c.layout != "" {
		return cellKey{group: group, network: c.network.Name}
	}
	return cellKey{group: group, network: c.network.Name, cluster: c.cluster}
}

// prepare looks at the machine, runs the functional check and starts the real
// servers.
func (r *runner) prepare(ctx context.Context) error {
	if err := r.gateBefore(ctx); err != nil {
		return err
	}
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
	r.readStates(ctx)
	r.schedule.Begin(time.Now())
	for block := 0; ; block++ {
		if more, err := r.turn(ctx, block); err != nil || !more {
			return err
		}
		start := time.Now()
		if err := r.block(ctx, block); err != nil {
			return err
		}
		if err := r.checkLost(ctx); err != nil {
			return err
		}
		r.weighSome(time.Since(start))
		if err := r.Save(r.res); err != nil {
			return err
		}
		if r.schedule.Precise(block+1, r.halves()) || r.wholeEnough() {
			break
		}
		if wanted, err := r.wantedByOthers(ctx, block+1); err != nil || wanted {
			return err
		}
		now := time.Now()
		more, cut := r.schedule.Ended(block+1, now.Sub(start), now, r.compared())
		if cut {
			r.res.Warnings = append(r.res.Warnings, fmt.Sprintf("max-time: stopped after %d of %d blocks", block+1, r.plan.Blocks))
		}
		if !more {
			break
		}
	}
	return nil
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
		if g := r.groups[v.group]; takesTurns(r.plan, g) {
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
	r.progress(block + 1)
	return nil
}

// with is the first of the groups that a visit takes turns with.
func (r *runner) with(v visit) int { return r.schedule.Groups[v.group].With }

// visit does one run of a block. A cell fails with its agent, or when it has
// missed too often.
func (r *runner) visit(ctx context.Context, v visit, block, order int) error {
	key := keyOf(v.group, v.place)
	cell := r.cells[key]
	r.done++
	if cell.Status != result.StatusOK {
		return nil
	}
	before, began := r.daemons.read(ctx), time.Now()
	sample, err := r.measureTwice(ctx, v)
	r.daemons.add(v.place.cluster, before, r.daemons.read(ctx), time.Since(began))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.keep(v, sample, err, block, order)
	return nil
}

// keep adds the sample of a run to its cell, or that the run failed.
func (r *runner) keep(v visit, sample result.Sample, err error, block, order int) {
	cell := r.cells[keyOf(v.group, v.place)]
	if err == nil {
		sample.Block, sample.Order, sample.Layout = block, order, v.place.layout
		cell.Samples = append(cell.Samples, sample)
		return
	}
	r.missed[cell] = append(r.missed[cell], fmt.Sprintf("missed: block %d has no window: %v", block+1, err))
	if final(err) || schedule.GivesUp(len(r.missed[cell]), len(cell.Samples)) {
		cell.Status, cell.Reason = result.StatusFailed, err.Error()
	}
}

// failUnmeasured fails the cells whose every run was missed, so that they have a reason:
// a plan of one block misses too few for keep to do so.
func (r *runner) failUnmeasured() {
	for _, cell := range r.cells {
		if missed := r.missed[cell]; cell.Status == result.StatusOK && len(cell.Samples) == 0 && len(missed) > 0 {
			cell.Status, cell.Reason = result.StatusFailed, missed[len(missed)-1]
		}
	}
}

func (r *runner) progress(block int) {
	p := Progress{Block: min(block, r.plan.Blocks), Blocks: r.plan.Blocks, Done: r.done, Total: max(r.done, r.schedule.Runs()*r.plan.Blocks)}
	if r.done > 0 {
		p.Left = time.Duration(float64(time.Since(r.started)) / float64(r.done) * float64(p.Total-p.Done))
	}
	r.Progress(p)
}
