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

	machines map[string]machine // by place
	outposts map[string]*farOutpost
	mu       sync.Mutex
	agents   map[string]*agent.Handle
	asked    map[string]time.Time // outposts, when they answered last
}

// Places are the names that an endpoint may have.
func Places() []string { return []string{"h1", "h2", "h1/c1", "h1/c2", "h2/c1"} }

// Reach starts an outpost at each place, all at the same time, and finds out how they reach
// each other.
func Reach(ctx context.Context, places []Far, version string) (_ *Endpoints, err error) {
	e := &Endpoints{
		machines: map[string]machine{}, outposts: map[string]*farOutpost{},
		agents: map[string]*agent.Handle{}, asked: map[string]time.Time{},
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
				e.outposts[place.Name], e.machines[place.Name] = o, o.Welcome.Machine
				e.asked[place.Name] = time.Now()
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

// placeOf is the place of an address: "h1/c1" of "found.h1/c1".
func placeOf(at string) string {
	_, place, has := strings.Cut(at, ".")
	if !has {
		return at
	}
	return place
}

// Agent returns the agent of a role at a place of a cluster. It starts one where none works,
// and makes sure that the way there is not cut.
func (e *Endpoints) Agent(ctx context.Context, at, role string) (*agent.Handle, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	place := placeOf(at)
	o, there := e.outposts[place]
	if !there {
		return nil, fmt.Errorf("%s: no command reaches it: name one with --endpoint %s='COMMAND'", place, place)
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
	o, there := e.outposts[placeOf(at)]
	if !there {
		return nil, fmt.Errorf("%s: no command reaches it", at)
	}
	seen, err := o.Look(ctx)
	seen.Namespace = at
	return []probe.Inventory{seen}, err
}

// Clock reads the monotonic clock of a place's machine, and in what time that was answered.
func (e *Endpoints) Clock(ctx context.Context, at string) (now, took time.Duration, err error) {
	o, there := e.outposts[placeOf(at)]
	if !there {
		return 0, 0, fmt.Errorf("%s: no command reaches it", at)
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
	for name, m := range e.machines {
		t.Namespaces = append(t.Namespaces, name)
		t.Places = append(t.Places, result.Place{Name: name, Boot: m.Boot, Environment: m.Facts})
	}
	slices.Sort(t.Namespaces)
	slices.SortFunc(t.Places, func(a, b result.Place) int { return strings.Compare(a.Name, b.Name) })
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
