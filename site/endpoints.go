package site

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"tare/agent"
	"tare/lab"
	"tare/network"
	"tare/probe"
	"tare/result"
)

// fresh is how long an outpost counts as reachable after it answered. It is asked again
// before a run, never during one; what connects it sees that it is in use.
const fresh = 5 * time.Second

// Endpoints is the site whose ends commands of the user's reach. What connects them was there
// before. Places are called as in a lab: host.h1, host-b.h1, endpoint.h1/c1. The cluster only
// distinguishes pairs of processes.
type Endpoints struct {
	Topology  Topology
	Unreached []error             // why a path between two places is not there
	Controls  map[string][]string // TCP's congestion controls, and from where to where each is used

	outposts map[string]*farOutpost // by place
	mu       sync.Mutex
	agents   map[string]*agent.Handle
	asked    map[string]time.Time // when a place's outpost answered last
}

// Places are the names that an endpoint may have.
func Places() []string { return []string{"h1", "h2", "h1/c1", "h1/c2", "h2/c1"} }

// Reach starts an outpost at each place, all at the same time, and finds out how they reach
// each other.
func Reach(ctx context.Context, places []Far, version string) (_ *Endpoints, err error) {
	e := &Endpoints{
		outposts: map[string]*farOutpost{}, agents: map[string]*agent.Handle{}, asked: map[string]time.Time{},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	errs := make([]error, len(places))
	var all sync.WaitGroup
	for n, place := range places {
		all.Go(func() {
			var o *farOutpost
			if o, errs[n] = place.open(ctx, version); errs[n] == nil {
				e.mu.Lock()
				e.outposts[place.Name], e.asked[place.Name] = o, time.Now()
				e.mu.Unlock()
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	e.Topology, err = e.explore(ctx)
	return e, err
}

// outpost is that of a place of a cluster: of h1/c1 where the place is endpoint.h1/c1.
func (e *Endpoints) outpost(at string) (o *farOutpost, place string, err error) {
	_, place, _ = strings.Cut(at, ".")
	o, there := e.outposts[place]
	if !there {
		err = fmt.Errorf("%s: no command reaches it: name one with --endpoint", at)
	}
	return o, place, err
}

// Agent returns the agent of a role at a place of a cluster. It starts one where none works,
// and makes sure that the way there is not cut.
func (e *Endpoints) Agent(ctx context.Context, at, role string) (*agent.Handle, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	o, place, err := e.outpost(at)
	if err != nil {
		return nil, err
	}
	if time.Since(e.asked[place]) > fresh {
		if _, _, err := o.Clock(ctx); err != nil {
			return nil, err
		}
		e.asked[place] = time.Now()
	}
	key := at + " " + role
	if h, there := e.agents[key]; there {
		if h.Broken() == nil {
			return h, nil
		}
		delete(e.agents, key)
		if err := h.Close(); err != nil {
			return nil, fmt.Errorf("close broken agent at %s: %w", at, err)
		}
	}
	h, err := o.Agent(ctx)
	if err == nil {
		e.agents[key] = h
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
	return errors.Join(append(errs, ended...)...)
}

// route is a way that is looked for: from which place to which, on which path.
type route struct{ path, from, to string }

// The clusters of the site.
const (
	hostCluster  = network.Baseline
	againCluster = network.Baseline + "-b"
	foundCluster = network.Endpoint
)

// explore finds the paths between the places.
func (e *Endpoints) explore(ctx context.Context) (t Topology, err error) {
	seen := map[string]probe.Inventory{}
	for place, o := range e.outposts {
		if seen[place], err = o.Look(ctx); err != nil {
			return t, err
		}
	}
	hosts, found := map[string]network.Ends{}, map[string]network.Ends{}
	e.Controls = map[string][]string{}
	var unreached []error
	for _, r := range []struct {
		route
		into map[string]network.Ends
	}{
		{route{network.SameHost, "h1", "h1"}, hosts}, {route{network.CrossHost, "h1", "h2"}, hosts},
		{route{network.SameHost, "h1/c1", "h1/c2"}, found}, {route{network.ContainerToOwnHost, "h1/c1", "h1"}, found},
		{route{network.CrossHost, "h1/c1", "h2/c1"}, found}, {route{network.HostToContainer, "h1", "h2/c1"}, found},
	} {
		if e.outposts[r.from] == nil || e.outposts[r.to] == nil {
			continue
		}
		ends, control, err := e.find(ctx, r.route, seen)
		switch {
		case ctx.Err() != nil:
			return t, ctx.Err()
		case err != nil:
			unreached = append(unreached, err)
		default:
			r.into[r.path] = ends
			e.Controls[control] = append(e.Controls[control], r.from+" to "+r.to)
		}
	}
	if len(hosts)+len(found) == 0 {
		return t, errors.Join(append([]error{errors.New("no place reaches another: name two that do, as in --endpoint h1='ssh a' --endpoint h2='ssh b'")}, unreached...)...)
	}
	if ends, there := hosts[network.SameHost]; there {
		hosts[network.ContainerToOwnHost] = ends
	}
	if ends, there := hosts[network.CrossHost]; there {
		hosts[network.HostToContainer] = ends
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if _, there := hosts[path]; !there {
			delete(found, path)
			unreached = append(unreached, fmt.Errorf("%s is left out: it is compared with h1 to h2, which is not there: name h2 too", path))
		}
	}
	t.Clusters = clustersOf(hosts, found, mtuOf(hosts[network.CrossHost], seen))
	e.Unreached = unreached
	t.Spec = Spec{Site: result.SiteEndpoint, Pin: string(lab.PinNone)}
	for _, name := range slices.Sorted(maps.Keys(e.outposts)) {
		place := e.outposts[name].Welcome.Place
		place.Name = name
		t.Places = append(t.Places, place)
	}
	return t, nil
}

// clustersOf are the clusters of the paths that were found.
func clustersOf(hosts, found map[string]network.Ends, mtu int) []Built {
	var all []Built
	port := uint16(network.SitePort + 1) // where the ways were tried may be closing still
	add := func(name, kind string, paths map[string]network.Ends, baseline bool) {
		if len(paths) == 0 {
			return
		}
		all = append(all, Built{
			ClusterSpec: ClusterSpec{Name: name, Network: kind, NIC: string(lab.NICFull), MTU: mtu, Baseline: baseline}, Fidelity: network.Product,
			Paths: paths, Port: port, Warnings: []string{}, CPUs: map[string]string{},
		})
		port++
	}
	add(hostCluster, network.Baseline, hosts, true)
	add(againCluster, network.Baseline, hosts, true)
	add(foundCluster, network.Endpoint, found, false)
	return all
}
