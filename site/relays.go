package site

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"time"

	"tare/catalog"
	"tare/network"
	"tare/probe"
	"tare/result"
)

// How long a published port is used to see who has its connections, how often is looked at least,
// and how often it is used where a busy machine was slower than that.
const (
	relayTrial  = 100 * time.Millisecond
	relayPause  = 2 * time.Millisecond
	relayLooks  = 10
	relayTrials = 5
)

// relays are the published ports whose connections the server's host has itself: a process of it
// relays them. Where rules rewrite addresses, the host only forwards.
type relays struct {
	ports  map[string]map[string]any // by the host's place, "docker-bridge.h1": path -> connections
	unread []result.Unread
}

// look uses a published port that works, and keeps what its server's host has of that meanwhile.
// It must be the only traffic there: the counters of a run are of all networks of a host.
func (r *relays) look(ctx context.Context, e *Endpoints, path string, way wayOn) {
	at := catalog.HostOf(way.ends.Server)
	host := e.outposts[at]
	if host == nil {
		return
	}
	var most, looks int
	var err error
	for trial := 0; trial < relayTrials && most == 0 && looks < relayLooks && err == nil; trial++ {
		ended := make(chan error, 1)
		go func() { ended <- e.use(ctx, way) }()
		var more int
		most, more, err = watch(ended, func() (int, error) { return host.accepted(ctx, trialPort(way.ends)) })
		looks += more
	}
	r.keep(way.on+"."+at, path, most, err)
}

// watch counts again and again until something has ended, and gives the most that it counted and how
// often. A count that fails is the last one.
func watch(ended <-chan error, count func() (int, error)) (most, looks int, err error) {
	for {
		n, err := count()
		if err != nil {
			return most, looks, errors.Join(err, <-ended)
		}
		most, looks = max(most, n), looks+1
		select {
		case err := <-ended:
			return most, looks, err
		case <-time.After(relayPause):
		}
	}
}

// use exchanges messages by a way for a while.
func (e *Endpoints) use(ctx context.Context, way wayOn) error {
	server, client, err := e.pair(ctx, way.on, way.ends.Client, way.ends.Server)
	if err != nil {
		return err
	}
	port := trialPort(way.ends)
	_, err = exchange(ctx, server, client, catalog.RoundTrips, "", relayTrial, netip.AddrPortFrom(way.ends.Bind, port), netip.AddrPortFrom(way.ends.Dial, port))
	return err
}

// keep keeps how many connections of a path a host had, or why that is not known.
func (r *relays) keep(at, path string, connections int, err error) {
	if err != nil {
		r.unread = probe.Unread(r.unread, []result.Unread{{Source: probe.SourceAccepted + " of " + at, Reason: err.Error()}})
	}
	if connections == 0 {
		return
	}
	if r.ports == nil {
		r.ports = map[string]map[string]any{}
	}
	if r.ports[at] == nil {
		r.ports[at] = map[string]any{}
	}
	r.ports[at][path] = connections
}

// states are those of some places.
func (r *relays) states(places []string) (all []result.State) {
	for _, at := range places {
		if values := r.ports[at]; values != nil {
			all = append(all, result.State{At: at, Source: probe.SourceAccepted, Values: values})
		}
	}
	return all
}

// lookAtRelays looks at the published ports of a network, one after another.
func (e *Endpoints) lookAtRelays(ctx context.Context, on string, paths map[string]network.Ends) {
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if catalog.ByPublishedPort(path) {
			e.relays.look(ctx, e, path, wayOn{on, paths[path]})
		}
	}
}
