package site

import (
	"context"
	"errors"
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/trace"
)

// FarTracer follows packets on the machine of an outpost.
type FarTracer struct {
	trace.Ability
	Place string // where it runs
	Boot  string // of its machine
	o     *farOutpost
}

// Tracers has a tracer opened on each machine of the site: at the place that sees most there,
// which is a host's if its user is root.
func (e *Endpoints) Tracers(ctx context.Context) ([]FarTracer, error) {
	var all []FarTracer
	for _, place := range e.hostsFirst() {
		o := e.outposts[place]
		at := slices.IndexFunc(all, func(t FarTracer) bool { return t.Boot == o.Greeting.Place.Boot })
		if at >= 0 && all[at].Tier > trace.Counters {
			continue
		}
		able, err := answered(ctx, o, doTracer, func(r outpostReply) *trace.Ability { return r.Ability })
		if err != nil {
			return nil, err
		}
		if why := unable(e.way.Site); why != "" && able.Tier == trace.Counters {
			able.Lacks = []string{why}
		}
		one := FarTracer{Ability: able, Place: place, Boot: o.Greeting.Place.Boot, o: o}
		switch {
		case at < 0:
			all = append(all, one)
		case one.Tier > all[at].Tier:
			all[at] = one
		}
	}
	return all, nil
}

// unable is why nothing is seen of packets in what a site makes; empty: it is as for a user there.
func unable(kind string) string {
	switch kind {
	case result.SiteDocker:
		return "hops and losses: the containers that tare makes have no such rights: run it as root on the engine's machine, or reach that with --site ssh --machines A --in 'docker exec -i CONTAINER'"
	case result.SiteKubernetes:
		return "hops and losses: the pods that tare makes have no such rights: --probe-nodes gives them to those on the nodes' own networks"
	}
	return ""
}

// hostsFirst are the labels of the places that are reached, those of hosts first.
func (e *Endpoints) hostsFirst() []string {
	var hosts, containers []string
	for _, place := range e.way.Places {
		if label := place.Label(); place.Name == catalog.HostOf(place.Name) {
			hosts = append(hosts, label)
		} else {
			containers = append(containers, label)
		}
	}
	return append(hosts, containers...)
}

// Able is what it can see.
func (t FarTracer) Able() trace.Ability { return t.Ability }

// Follow follows the packets of a pass while run runs. It needs tier Packets.
func (t FarTracer) Follow(ctx context.Context, pass trace.Pass, run func() error) (trace.Path, error) {
	all, err := t.during(ctx, doFollow, pass, run)
	return all.Path, err
}

// Profile looks at every CPU of the machine while run runs. It needs tier Stacks.
func (t FarTracer) Profile(ctx context.Context, networks []trace.Network, run func() error) (trace.Profile, error) {
	all, err := t.during(ctx, doProfile, trace.Pass{Networks: networks}, run)
	return all.Profile, err
}

// during has a pass begun there, and what it saw while run ran.
func (t FarTracer) during(ctx context.Context, do string, pass trace.Pass, run func() error) (seen, error) {
	if _, err := t.o.ask(ctx, do, &pass); err != nil {
		return seen{}, err
	}
	ran := run()
	all, err := answered(ctx, t.o, doFollowed, func(r outpostReply) *seen { return r.Seen })
	return all, errors.Join(ran, err)
}
