package site

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"slices"

	"tare/catalog"
	"tare/network"
	"tare/result"
)

// reno is the congestion control that every socket may have (tcp_cong.c).
const reno = "reno"

// wayOn is a way that is there, on a network.
type wayOn struct {
	on   string
	ends network.Ends
}

// deadWay is a path that carries nothing.
type deadWay struct {
	path string
	wayOn
}

// commonControl is a congestion control that the sockets of every way may have, where the
// places have different ones: that of the hosts if it may be. A container may not choose
// each, and a route may insist on one. It is empty where the places have the same one, and
// where none will do.
func (e *Endpoints) commonControl(ctx context.Context) (string, error) {
	if len(e.Controls) < 2 {
		return "", nil
	}
	names := slices.Collect(maps.Keys(e.Controls))
	ofHosts := func(name string) int {
		if slices.Contains(e.Controls[name], "h1 to h2") || slices.Contains(e.Controls[name], "h1 to h1") {
			return 0
		}
		return 1
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(ofHosts(a)-ofHosts(b), cmp.Compare(a, b)) })
	for _, name := range result.AddOnce(names, reno) {
		all, err := e.may(ctx, name)
		if err != nil || all {
			return name, err
		}
	}
	return "", nil
}

// may reports whether the sockets of every way may have a congestion control.
func (e *Endpoints) may(ctx context.Context, name string) (bool, error) {
	for _, way := range e.ways {
		server, client, err := e.pair(ctx, way.on, way.ends.Client, way.ends.Server)
		if err != nil {
			return false, err
		}
		port := trialPort(way.ends)
		used, err := exchange(ctx, server, client, catalog.Bulk, name, shortTrial, netip.AddrPortFrom(way.ends.Bind, port), netip.AddrPortFrom(way.ends.Dial, port))
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err != nil || used != name: // a route may insist on another
			return false, nil
		}
	}
	return true, nil
}

// trialPort is the port at which a way is tried.
func trialPort(ends network.Ends) uint16 {
	if ends.Port > 0 {
		return ends.Port + 1
	}
	return network.SitePort
}
