package experiment

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"tare/network"
	"tare/probe"
	"tare/result"
	"tare/trace"
	"tare/workload"
)

// tracing is a run whose every window is followed by others of the same cell,
// in which its packets and the CPUs are looked at.
type tracing struct {
	*runner
	tracer   *trace.Tracer
	networks map[string][]trace.Network // cluster -> its namespaces
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
	defer func() { err = errors.Join(err, r.close()) }()
	tracer, err := trace.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tracer.Close()) }()
	t := &tracing{runner: r, tracer: tracer, networks: map[string][]trace.Network{}, seen: map[cellKey]*sight{}}
	err = t.blocks(ctx)
	if err == nil {
		r.res.Finished = time.Now().UTC().Format(time.RFC3339)
	}
	r.finishNoise(ctx)
	r.failUnmeasured()
	r.last = true
	r.weigh()
	t.fillTraces()
	if folded != nil {
		err = errors.Join(err, t.fold(folded))
	}
	return r.res, errors.Join(err, o.Save(r.res))
}

func (t *tracing) blocks(ctx context.Context) error {
	if err := t.prepare(ctx); err != nil {
		return err
	}
	for block := range t.plan.Blocks {
		visits := t.shuffled(block)
		for order, v := range visits {
			if err := ctx.Err(); err != nil {
				return err
			}
			t.progress(block)
			if err := t.visit(ctx, v, block, order); err != nil {
				return err
			}
			if err := t.look(ctx, v); err != nil {
				return err
			}
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
	cell := t.cells[key]
	if cell.Status != result.StatusOK {
		return nil
	}
	if t.seen[key] == nil {
		t.seen[key] = &sight{counted: map[countedAt]int64{}}
	}
	s := t.seen[key]
	err := t.follow(ctx, v, s)
	if err == nil && t.tracer.Tier >= trace.Stacks {
		err = t.profile(ctx, v, s)
	}
	if err != nil && ctx.Err() == nil {
		t.missed[cell] = append(t.missed[cell], "not traced: "+err.Error())
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
		sample, err = t.measure(ctx, v.place, g.path, g.workload.Name, run)
		return err
	}
	end, err := t.begin(ctx, v.place.cluster)
	if err != nil {
		return err
	}
	if t.tracer.Tier >= trace.Packets {
		path, err := t.tracer.Follow(passOf(places, g.workload.Name, run), once)
		if err != nil {
			return err
		}
		s.path.Add(path)
	} else if err := once(); err != nil {
		return err
	}
	s.traced = append(s.traced, sample)
	return end(s)
}

// countedAt is a counter of a place.
type countedAt struct{ at, name string }

// passOf is what to follow of a run.
func passOf(places []trace.Network, name string, run workload.Run) trace.Pass {
	kind, _ := workload.Find(name)
	pass := trace.Pass{Networks: places, Port: network.Port, Rounds: kind.Headline == roundTrip}
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
	p, err := t.tracer.Profile(places, func() error {
		_, err := t.measure(ctx, v.place, g.path, g.workload.Name, runOf(t.plan, g.workload))
		return err
	})
	if err == nil {
		s.profiles = append(s.profiles, p)
	}
	return err
}

// placesOf are the namespaces of a cluster, as they were at the first call.
func (t *tracing) placesOf(ctx context.Context, cluster string) ([]trace.Network, error) {
	if known := t.networks[cluster]; known != nil {
		return known, nil
	}
	var places []trace.Network
	for _, name := range t.namespacesOf(cluster) {
		held, err := t.Site.Look(ctx, cluster+"."+name)
		if err != nil {
			return nil, err
		}
		for _, l := range held {
			places = append(places, networkOf(l, name))
		}
	}
	t.networks[cluster] = places
	return places, nil
}

// namespacesOf are the places of a cluster: "h1", "h1/c1".
func (t *tracing) namespacesOf(cluster string) []string {
	var names []string
	for _, full := range t.Topology.Namespaces {
		if name, of := strings.CutPrefix(full, cluster+"."); of {
			names = append(names, name)
		}
	}
	return names
}

func networkOf(l probe.Inventory, name string) trace.Network {
	n := trace.Network{Inode: uint32(l.Inode), At: name, Devices: map[uint32]trace.Device{}}
	kinds := map[string]string{}
	for _, link := range l.Links {
		kinds[link.Name] = link.Kind
	}
	for _, link := range l.Links {
		n.Devices[uint32(link.Index)] = trace.Device{
			Name: link.Name, Kind: link.Kind, Master: link.Bridge, MasterKind: kinds[link.Bridge],
		}
	}
	return n
}

// fold writes the stacks of every cell.
func (t *tracing) fold(w io.Writer) error {
	for _, key := range t.order {
		cell := t.cells[key]
		if s := t.seen[key]; s != nil {
			if err := trace.Fold(w, cell.Network+" "+cell.Path+" "+cell.Workload, s.profiles); err != nil {
				return err
			}
		}
	}
	return nil
}
