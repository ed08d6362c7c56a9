package experiment

import (
	"context"
	"slices"
	"strings"

	"tare/probe"
	"tare/result"
	"tare/site"
	"tare/trace"
)

// follower follows packets and looks at the CPUs on one machine.
type follower interface {
	Able() trace.Ability
	Follow(ctx context.Context, pass trace.Pass, run func() error) (trace.Path, error)
	Profile(ctx context.Context, networks []trace.Network, run func() error) (trace.Profile, error)
}

// remote is a site on other machines, which have tracers of theirs.
type remote interface {
	Tracers(ctx context.Context) ([]site.FarTracer, error)
}

// tracers are those of the machines of a site.
type tracers []machineTracer

type machineTracer struct {
	follower
	at   string // where it runs, for messages; empty: here
	boot string // of its machine; empty: all places are on this one
}

// nearby is the tracer of this machine.
type nearby struct{ *trace.Tracer }

func (n nearby) Able() trace.Ability { return n.Ability }

func (n nearby) Follow(_ context.Context, pass trace.Pass, run func() error) (trace.Path, error) {
	return n.Tracer.Follow(pass, run)
}

func (n nearby) Profile(_ context.Context, networks []trace.Network, run func() error) (trace.Profile, error) {
	return n.Tracer.Profile(networks, run)
}

// tracersOf opens the tracers of a site; stop closes those that the site does not.
func tracersOf(ctx context.Context, s Site) (all tracers, stop func() error, err error) {
	r, far := s.(remote)
	if !far {
		own, err := trace.Open()
		if err != nil {
			return nil, nil, err
		}
		return tracers{{follower: nearby{own}}}, own.Close, nil
	}
	stop = func() error { return nil }
	opened, err := r.Tracers(ctx)
	for _, one := range opened {
		all = append(all, machineTracer{one, one.Place, one.Boot})
	}
	// What an engine's containers on this machine may not see, the user of tare may.
	here := slices.IndexFunc(all, func(t machineTracer) bool { return t.boot == probe.BootID("/") })
	if err != nil || here < 0 || all[here].Able().Tier > trace.Counters {
		return all, stop, err
	}
	own, err := trace.Open()
	if err != nil || own.Tier == trace.Counters {
		return all, stop, err
	}
	all[here] = machineTracer{nearby{own}, "", all[here].boot}
	return all, own.Close, nil
}

// tier is what the machine that sees most can see.
func (all tracers) tier() trace.Tier {
	most := trace.Counters
	for _, t := range all {
		most = max(most, t.Able().Tier)
	}
	return most
}

// lacks are what the machines can't see, and what to do about it.
func (all tracers) lacks() []string {
	lacks := []string{}
	for _, t := range all {
		for _, text := range t.Able().Lacks {
			if t.at != "" {
				text = "at " + t.at + ": " + text
			}
			lacks = append(lacks, text)
		}
	}
	return lacks
}

// located is a network namespace, and the machine that it is on.
type located struct {
	trace.Network
	boot string
}

// on are the namespaces of places that a tracer sees.
func (t machineTracer) on(places []located) (networks []trace.Network) {
	for _, p := range places {
		if t.boot == "" || t.boot == p.boot {
			networks = append(networks, p.Network)
		}
	}
	return networks
}

// follow follows a pass on every machine that can, while run runs.
func (all tracers) follow(ctx context.Context, pass trace.Pass, places []located, run func() error) (whole trace.Path, err error) {
	for _, t := range all {
		if t.Able().Tier < trace.Packets {
			continue
		}
		inner := run
		pass.Networks = t.on(places)
		own := pass
		run = func() error {
			path, err := t.Follow(ctx, own, inner)
			whole.Add(path)
			return err
		}
	}
	return whole, run()
}

// profile looks at the CPUs of every machine that can, while run runs.
func (all tracers) profile(ctx context.Context, places []located, run func() error) (whole trace.Profile, err error) {
	for _, t := range all {
		if t.Able().Tier < trace.Stacks {
			continue
		}
		inner := run
		run = func() error {
			p, err := t.Profile(ctx, t.on(places), inner)
			whole.Add(p)
			return err
		}
	}
	return whole, run()
}

// placesOf are the namespaces of a cluster, each once, as they were at the first call.
func (t *tracing) placesOf(ctx context.Context, cluster string) ([]located, error) {
	if known := t.networks[cluster]; known != nil {
		return known, nil
	}
	var places []located
	for _, name := range t.namespacesOf(cluster) {
		held, err := t.Site.Look(ctx, cluster+"."+name)
		if err != nil {
			return nil, err
		}
		for _, l := range held {
			one := located{networkOf(l, name), bootOf(t.Topology.Places, name)}
			// Of a container that has its host's network, the host is shown.
			if !slices.ContainsFunc(places, func(p located) bool { return p.Inode == one.Inode && p.boot == one.boot }) {
				places = append(places, one)
			}
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

// severed says that no packet can be followed from one end of a cell to the other; empty: it
// can.
func (t *tracing) severed(cell *result.Cell) string {
	ends, _ := t.conductor.built.ends(cell.Clusters[0], cell.Path)
	if t.tracers.tier() < trace.Packets || !apart(t.Topology.Places, ends) {
		return ""
	}
	return "hops: the two ends are on two machines, and a packet is followed within one"
}
