package site

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"tare/agent"
	"tare/catalog"
	"tare/probe"
	"tare/result"
)

// fresh is how long an outpost counts as reachable after it answered. It is asked again
// before a run, never during one; what connects it sees that it is in use.
const fresh = 5 * time.Second

// Endpoints is the site whose ends commands of the user's reach. What connects them was there
// before. Places are called as in a lab: host.h1, host-b.h1, endpoint.h1/c1. Of a host, the
// cluster only distinguishes pairs of processes.
type Endpoints struct {
	Topology  Topology
	Facts     []string            // what the site says about itself
	Unreached []error             // why a path between two places is not there
	Controls  map[string][]string // TCP's congestion controls, and from where to where each is used
	Common    string              // one that the sockets of every way may have, where they differ; empty: none
	// Differences are what the two hosts do not have in common.
	Differences []string
	LinkRate    float64 // bit/s of the interfaces between the two hosts; 0: it is not known

	way      Way
	ways     []wayOn
	dead     []deadWay
	relays   relays
	outposts map[string]*farOutpost // by Label
	mu       sync.Mutex
	agents   map[string]*agent.Handle
	asked    map[string]time.Time // when a place's outpost answered last
}

// Places are the names that an endpoint may have.
func Places() []string { return []string{"h1", "h2", "h1/c1", "h1/c2", "h2/c1"} }

// Reach starts an outpost at each place of a site, all at the same time, and finds out how they
// reach each other. The way is closed with the site.
func Reach(ctx context.Context, way Way, version string) (_ *Endpoints, err error) {
	e, err := start(ctx, way, version)
	if err != nil {
		return nil, err
	}
	if e.Topology, err = e.explore(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// start starts an outpost at each place. One that is not reached ends that, unless the way has
// what is not reached left out.
func start(ctx context.Context, way Way, version string) (*Endpoints, error) {
	e := &Endpoints{
		Facts: result.Names(way.Facts, result.Plain),
		way:   way, outposts: map[string]*farOutpost{}, agents: map[string]*agent.Handle{}, asked: map[string]time.Time{},
	}
	errs := make([]error, len(way.Places))
	sent := sync.OnceValues(programs)
	var all sync.WaitGroup
	for n, place := range way.Places {
		all.Go(func() {
			var o *farOutpost
			if o, errs[n] = place.open(ctx, version, sent); errs[n] == nil {
				e.mu.Lock()
				e.outposts[place.Label()], e.asked[place.Label()] = o, time.Now()
				e.mu.Unlock()
			}
		})
	}
	all.Wait()
	err := errors.Join(errs...)
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case way.Partial:
		e.Unreached = append(way.Lost, slices.DeleteFunc(errs, func(err error) bool { return err == nil })...)
		err = nil
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// outpost is that of a place of a cluster.
func (e *Endpoints) outpost(at string) (o *farOutpost, key string, err error) {
	cluster, place := catalog.SplitPlace(at)
	key = Label(cluster, place)
	o, there := e.outposts[key]
	if !there {
		err = fmt.Errorf("%s: no command reaches it: name one with --endpoint", at)
	}
	return o, key, err
}

// Agent returns the agent of a role at a place of a cluster. It starts one where none works,
// and makes sure that the way there is not cut.
func (e *Endpoints) Agent(ctx context.Context, at, role string) (*agent.Handle, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	o, key, err := e.outpost(at)
	if err != nil {
		return nil, err
	}
	if time.Since(e.asked[key]) > fresh {
		if _, _, err := o.Clock(ctx); err != nil {
			return nil, err
		}
		e.asked[key] = time.Now()
	}
	whose := at + " " + role
	if h, there := e.agents[whose]; there {
		if h.Broken() == nil {
			return h, nil
		}
		delete(e.agents, whose)
		if err := h.Close(); err != nil {
			return nil, fmt.Errorf("close broken agent at %s: %w", at, err)
		}
	}
	h, err := o.Agent(ctx)
	if err == nil {
		e.agents[whose] = h
	}
	return h, err
}

// Look reads what the network namespace of a place holds.
func (e *Endpoints) Look(ctx context.Context, at string) ([]probe.Inventory, error) {
	o, _, err := e.outpost(at)
	if err != nil {
		return nil, err
	}
	seen, err := o.Look(ctx)
	seen.Namespace = at
	return []probe.Inventory{seen}, err
}

// Clock reads the monotonic clock of a place's machine, and in what time that was answered.
func (e *Endpoints) Clock(ctx context.Context, at string) (now, took time.Duration, err error) {
	o, _, err := e.outpost(at)
	if err != nil {
		return 0, 0, err
	}
	return o.Clock(ctx)
}

// Close ends all agents and outposts.
func (e *Endpoints) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	for _, h := range e.agents {
		errs = append(errs, h.Close())
	}
	outposts := slices.Collect(maps.Values(e.outposts))
	ended := make([]error, len(outposts))
	var all sync.WaitGroup
	for n, o := range outposts {
		all.Go(func() { ended[n] = o.Close() })
	}
	all.Wait()
	errs = append(errs, ended...)
	if e.way.Close != nil {
		errs = append(errs, e.way.Close())
	}
	return errors.Join(errs...)
}
