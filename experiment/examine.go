package experiment

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"tare/catalog"
	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/probe"
	"tare/result"
	"tare/site"
	"tare/wire"
)

// Asked is what is examined.
type Asked struct {
	Pair *Pair         // of places; nil: every path
	Idle time.Duration // how long a connection rests before it must carry a message; 0: none is tried
}

// Pair is two ends that the user chose.
type Pair struct {
	From, To string
	Path     string // the one meant, of those between the two; empty: any
}

// Examine tries every path of a lab's networks, or a pair of its places, with
// small and full-sized messages, a train of datagrams and a stream, and reads
// counters and states of the places on the way. It changes nothing.
func Examine(ctx context.Context, s Site, t site.Topology, asked Asked) (all []result.Examination, err error) {
	plan, err := Narrow(Quick(), t)
	if err != nil {
		return nil, err
	}
	plan.Axes = plan.Axes.With("cc", "") // whatever a route or a user chose passes, too
	c := newConductor(plan, Options{Site: s, Topology: t})
	defer func() { err = errors.Join(err, c.close()) }()
	r := &examiner{conductor: c, topology: t, emulated: environmentOf(t).Emulated(), idle: asked.Idle}
	subjects, err := r.subjects(ctx, asked.Pair)
	if err != nil {
		return nil, err
	}
	for _, s := range subjects {
		one, err := r.examine(ctx, s)
		if err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, ctx.Err()
}

// examiner tries paths, and measures none.
type examiner struct {
	*conductor
	topology site.Topology
	emulated bool // the CPU
	idle     time.Duration
}

// subject is a path to examine.
type subject struct {
	built site.Built
	path  string
	ends  network.Ends
	back  bool // its ends in turn, so that settings need a look only where something fails
}

// subjects are the paths of every network of the lab; the baseline's only if there
// is no other network.
func (r *examiner) subjects(ctx context.Context, pair *Pair) ([]subject, error) {
	if pair != nil {
		s, err := r.chosen(ctx, *pair)
		return []subject{s}, err
	}
	var all []subject
	alone := !slices.ContainsFunc(r.topology.Clusters, func(b site.Built) bool { return !b.Baseline })
	for n, b := range r.topology.Clusters {
		if b.Error != "" || b.Baseline && (!alone || n > 0) {
			continue
		}
		for _, path := range catalog.Paths() {
			ends, served := b.Paths[path]
			if !served {
				continue
			}
			all = append(all, subject{built: b, path: path, ends: ends})
			back, err := r.inTurn(ctx, b, path, ends)
			if err != nil {
				return nil, err
			}
			all = append(all, back...)
		}
		if b.Nearby != nil {
			all = append(all, subject{built: b, path: catalog.ContainerToPublishedPort, ends: *b.Nearby})
		}
	}
	return all, nil
}

// inTurn is a path of a lab from its server to its client, where the two are of one kind.
func (r *examiner) inTurn(ctx context.Context, b site.Built, path string, ends network.Ends) ([]subject, error) {
	if path != catalog.SameHost && path != catalog.CrossHost || ends.Bind != ends.Dial || r.plan.Site != "" {
		return nil, nil
	}
	held, err := r.site.Look(ctx, b.Name+"."+ends.Client)
	if err != nil {
		return nil, err
	}
	addr, err := addressOf(held[0])
	if err != nil {
		return nil, nil //nolint:nilerr // it has no address that others reach
	}
	if lab.IPv4Of(ends.Dial).IsValid() {
		addr = lab.IPv6Of(addr)
	}
	return []subject{{b, path, network.Ends{Client: ends.Server, Server: ends.Client, Bind: addr, Dial: addr}, true}}, nil
}

// chosen is the path of a pair: one that the network serves, or the two places
// as they are.
func (r *examiner) chosen(ctx context.Context, pair Pair) (subject, error) {
	from, to := r.topology.Full(pair.From), r.topology.Full(pair.To)
	cluster, client, _ := strings.Cut(from, ".")
	other, server, _ := strings.Cut(to, ".")
	at := slices.IndexFunc(r.topology.Clusters, func(b site.Built) bool { return b.Name == cluster })
	switch {
	case at < 0 || other != cluster:
		return subject{}, &InputError{fmt.Sprintf("%s and %s: name two places of one network", pair.From, pair.To)}
	case client == server:
		return subject{}, &InputError{fmt.Sprintf("%s: name two places that differ", pair.From)}
	}
	built := r.topology.Clusters[at]
	for _, path := range catalog.Paths() {
		ends := built.Paths[path]
		meant := path == pair.Path || pair.Path == "" && ends.Bind == ends.Dial
		if ends.Client == client && ends.Server == server && meant {
			return subject{built: built, path: path, ends: ends}, nil
		}
	}
	held, err := r.site.Look(ctx, to)
	if err != nil {
		return subject{}, err
	}
	addr, err := addressOf(held[0])
	return subject{built: built, ends: network.Ends{Client: client, Server: server, Bind: addr, Dial: addr, Port: directPort(built, server)}}, err
}

// directPort is where the server of a pair listens: at a host that publishes ports for its containers,
// one that is not published. 0: the usual.
func directPort(built site.Built, server string) uint16 {
	for path, ends := range built.Paths {
		if catalog.ByPublishedPort(path) && server == catalog.HostOf(ends.Server) {
			return network.OutsidePort
		}
	}
	return 0
}

// addressOf is the address at which others reach a place: that of its
// interface, not of a bridge.
func addressOf(place probe.Inventory) (netip.Addr, error) {
	var found netip.Addr
	ofDevice := false
	for _, link := range place.Links {
		for _, prefix := range link.Addresses {
			if prefix.Addr().IsLoopback() {
				continue
			}
			if own := link.Name == lab.Device; own && !ofDevice || !found.IsValid() {
				found, ofDevice = prefix.Addr(), own
			}
		}
	}
	if !found.IsValid() {
		return found, &InputError{fmt.Sprintf("%s has no IPv4 address: nobody can reach it", place.Namespace)}
	}
	return found, nil
}

// examine tries one path.
func (r *examiner) examine(ctx context.Context, s subject) (result.Examination, error) {
	kind, _ := kinds.Find(s.built.Network)
	mtu := s.built.Axes.Count("mtu")
	rules, _ := strconv.Atoi(s.built.Params[catalog.Rules]) // absent: none were asked for
	e := result.Examination{
		Cluster: s.built.Name, Network: s.built.Network, Fidelity: s.built.Fidelity, Path: s.path, Client: s.ends.Client, Server: s.ends.Server, Dial: s.ends.Dial.String(),
		NIC: s.built.Axes.Text("nic"), MTU: mtu, Inner: wire.InnerMTU(mtu, kind.Stack), Link: s.built.Axes.Linked(), Rules: rules, Port: int(r.built.port(s.built.Name, s.ends)),
		Places: s.ends.Places(),
	}
	places := placesOf(s.built.Name, s.ends)
	stop := func() (site.Counted, error) { return site.Counted{}, nil }
	var err error
	if r.sources.site != nil {
		if stop, err = r.sources.site.Count(ctx, places); err != nil {
			return e, err
		}
	}
	var before probe.Counts
	if r.sources.machine != nil {
		before = r.sources.machine.Read()
	}
	t := trying{examiner: r, subject: s, port: r.built.port(s.built.Name, s.ends), e: &e}
	t.all(ctx)
	counted, err := stop()
	if err != nil || ctx.Err() != nil {
		return e, errors.Join(err, ctx.Err())
	}
	if s.back && !slices.ContainsFunc(e.Trials, func(t result.Trial) bool { return t.Error != "" }) {
		e.Readings = nil
		return e, nil
	}
	e.Readings = append(e.Readings, counted.Readings...)
	e.Unread = probe.Unread(e.Unread, counted.Unread)
	if r.sources.machine != nil {
		machine, unread := r.sources.machine.Read().Since(before)
		e.Readings, e.Unread = append(machine, e.Readings...), probe.Unread(e.Unread, unread)
		states, unread := probe.Look("/", probe.Machine)
		e.States, e.Unread = states, probe.Unread(e.Unread, unread)
	}
	r.settings(ctx, &e, places)
	held, err := r.lookAt(ctx, places)
	if err != nil {
		return e, err
	}
	addressing(&e, held)
	if lab.IPv4Of(s.ends.Dial).IsValid() && len(held) > 0 {
		if own, err := addressOf(held[0]); err == nil {
			e.Source = lab.IPv6Of(own).String()
		}
	}
	for n := range e.Readings {
		e.Readings[n].At = strings.TrimPrefix(e.Readings[n].At, s.built.Name+".")
	}
	for n := range e.States {
		e.States[n].At = strings.TrimPrefix(e.States[n].At, s.built.Name+".")
	}
	return e, nil
}

// settings reads those of places of a site.
func (r *examiner) settings(ctx context.Context, e *result.Examination, places []string) {
	for _, at := range places {
		if r.sources.site == nil {
			break
		}
		states, err := r.sources.site.States(ctx, []string{at})
		if err != nil { // one of an engine's own may hide its mounts
			states.Unread = append(states.Unread, result.Unread{Source: "settings of " + at, Reason: err.Error()})
		}
		e.States, e.Unread = append(e.States, states.States...), probe.Unread(e.Unread, states.Unread)
	}
}

// addressing lists the addresses, routes and rules of routing of places of a cluster.
func addressing(e *result.Examination, places []probe.Inventory) {
	for _, place := range places {
		at := strings.TrimPrefix(place.Namespace, e.Cluster+".")
		for _, link := range place.Links {
			for _, prefix := range link.Addresses {
				e.Addresses = append(e.Addresses, result.Address{At: at, Device: link.Name, Prefix: prefix})
			}
		}
		for _, address := range place.Routing.Addresses {
			address.At = at
			e.Addresses = append(e.Addresses, address)
		}
		for _, route := range slices.Concat(place.Routes, place.Routing.Routes) {
			route.At = at
			e.Routes = append(e.Routes, route)
		}
		for _, policy := range place.Routing.Policies {
			policy.At = at
			e.Policies = append(e.Policies, policy)
		}
	}
}
