package experiment

import (
	"context"
	"errors"
	"io"
	"time"

	"tare/result"
	"tare/trace"
	"tare/workload"
)

// tracing is a run whose every window is followed by others of the same cell,
// in which its packets and the CPUs are looked at.
type tracing struct {
	*runner
	tracers  tracers
	networks map[string][]located // cluster -> its namespaces
	seen     map[cellKey]*sight
}

// sight is what was seen of one cell.
type sight struct {
	path     trace.Path
	traced   []result.Sample // of the windows in which packets were followed
	profiles []trace.Profile
	counted  map[countedAt]int64 // what counters grew by
}

// Trace measures a completed and checked plan as Run does, and traces packets and
// CPUs in separate windows after each. Folded, if there is one, gets the stacks that
// CPUs were found in.
func Trace(ctx context.Context, plan result.Plan, o Options, folded io.Writer) (res *result.Result, err error) {
	plan.Design = result.DesignWindows // one run at a time is followed
	r, err := equipped(ctx, plan, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.conductor.close()) }()
	tracers, stop, err := tracersOf(ctx, o.Site)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	t := &tracing{runner: r, tracers: tracers, networks: map[string][]located{}, seen: map[cellKey]*sight{}}
	err = t.blocks(ctx)
	res = r.finish(ctx, err == nil)
	t.fillTraces()
	if folded != nil {
		err = errors.Join(err, t.fold(folded))
	}
	return res, errors.Join(err, o.Save(res))
}

func (t *tracing) blocks(ctx context.Context) error {
	if err := t.prepare(ctx); err != nil {
		return err
	}
	for block := range t.plan.Blocks {
		for order, v := range t.visited(t.schedule.All(block)) {
			if err := ctx.Err(); err != nil {
				return err
			}
			t.progress(block)
			if err := t.spare(ctx, v); err != nil {
				return err
			}
			began := time.Now()
			if err := t.visit(ctx, v, block, order); err != nil {
				return err
			}
			if err := t.look(ctx, v); err != nil {
				return err
			}
			t.spent([]visit{v}, block, time.Since(began))
		}
		t.progress(block + 1)
	}
	return nil
}

// look repeats a window that could be measured, with its packets followed, and once
// more with the CPUs sampled. If one of these fails, the cell does not: it keeps
// what was measured.
func (t *tracing) look(ctx context.Context, v visit) error {
	key := keyOf(v.group, v.place)
	cell := t.recorder.cells[key]
	if cell.Status != result.StatusOK {
		return nil
	}
	if t.seen[key] == nil {
		t.seen[key] = &sight{counted: map[countedAt]int64{}}
	}
	s := t.seen[key]
	err := t.follow(ctx, v, s)
	if err == nil && t.tracers.tier() >= trace.Stacks {
		err = t.profile(ctx, v, s)
	}
	if err != nil && ctx.Err() == nil {
		t.recorder.missed[cell] = append(t.recorder.missed[cell], "not traced: "+err.Error())
		return nil
	}
	return err
}

// follow measures a window while its packets are followed. Datagrams get no
// warm-up, so that the workload counts from the first one, as the ledger does.
func (t *tracing) follow(ctx context.Context, v visit, s *sight) error {
	g := t.groups[v.group]
	run := runOf(t.plan, g.workload)
	if kind, _ := workload.Find(g.workload.Name); !kind.TCP {
		run.Warmup = 0
	}
	places, err := t.placesOf(ctx, v.place.cluster)
	if err != nil {
		return err
	}
	var sample result.Sample
	once := func() error {
		sample, err = t.conductor.measure(ctx, v.place, g.path, g.workload.Name, run)
		return err
	}
	end, err := t.begin(ctx, v.place.cluster)
	if err != nil {
		return err
	}
	ends, _ := t.conductor.built.ends(v.place.cluster, g.path)
	port := t.conductor.built.port(v.place.cluster, ends)
	path, err := t.tracers.follow(ctx, passOf(port, g.workload.Name, run), places, once)
	if err != nil {
		return err
	}
	s.path.Add(path)
	s.traced = append(s.traced, sample)
	return end(s)
}

// countedAt is a counter of a place.
type countedAt struct{ at, name string }

// passOf is what to follow of a run. port is that of tare's own servers.
func passOf(port uint16, name string, run workload.Run) trace.Pass {
	kind, _ := workload.Find(name)
	pass := trace.Pass{Port: port, Rounds: kind.Headline == roundTrip}
	pass.Closed = pass.Rounds && run.Rate == 0
	if server, has := serverOf(name, run); has {
		pass.Port = server.Port
	}
	return pass
}

func (t *tracing) profile(ctx context.Context, v visit, s *sight) error {
	g := t.groups[v.group]
	places, err := t.placesOf(ctx, v.place.cluster)
	if err != nil {
		return err
	}
	p, err := t.tracers.profile(ctx, places, func() error {
		_, err := t.conductor.measure(ctx, v.place, g.path, g.workload.Name, runOf(t.plan, g.workload))
		return err
	})
	if err == nil {
		s.profiles = append(s.profiles, p)
	}
	return err
}

// fold writes the stacks of every cell.
func (t *tracing) fold(w io.Writer) error {
	for _, key := range t.recorder.order {
		cell := t.recorder.cells[key]
		if s := t.seen[key]; s != nil {
			if err := trace.Fold(w, cell.Network+" "+cell.Path+" "+cell.Workload, s.profiles); err != nil {
				return err
			}
		}
	}
	return nil
}
