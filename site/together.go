package site

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"tare/agent"
	"tare/lab"
	"tare/probe"
)

// Together is several labs of this machine as one site, which has the clusters of all.
// No two of them have a cluster of the same name. It closes none of them.
type Together []*Lab

// Topology is that of the first lab, with the clusters of all.
func (t Together) Topology() Topology {
	all := t[0].Topology
	all.Clusters = slices.Clone(all.Clusters)
	for _, l := range t[1:] {
		all.Clusters = append(all.Clusters, l.Topology.Clusters...)
	}
	return all
}

// of is the lab that has a place's cluster; the first where none has.
func (t Together) of(at string) *Lab {
	cluster, _, _ := strings.Cut(at, ".")
	for _, l := range t {
		if slices.ContainsFunc(l.Topology.Clusters, func(b Built) bool { return b.Name == cluster }) {
			return l
		}
	}
	return t[0]
}

// Agent is as Lab's.
func (t Together) Agent(ctx context.Context, at, role string) (*agent.Handle, error) {
	return t.of(at).Agent(ctx, at, role)
}

// Look is as Lab's, at one place.
func (t Together) Look(ctx context.Context, at string) ([]probe.Inventory, error) {
	return t.of(at).Look(ctx, at)
}

// Watch is as Lab's, at places of one lab.
func (t Together) Watch(ctx context.Context, places []string, flow lab.Flow) (stop func() ([]lab.Sighting, error), err error) {
	return t.of(places[0]).Watch(ctx, places, flow)
}

// Usage is as Lab's, of all labs.
func (t Together) Usage(ctx context.Context) ([]lab.Usage, error) {
	var all []lab.Usage
	for _, l := range t {
		usage, err := l.Usage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, usage...)
	}
	return all, nil
}

// Lost is as Lab's, of all labs.
func (t Together) Lost(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	for _, l := range t {
		lost, err := l.Lost(ctx)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, lost)
	}
	return all, nil
}

// States is as Lab's.
func (t Together) States(ctx context.Context, places []string) (Counted, error) {
	var all Counted
	var errs []error
	for _, l := range t {
		counted, err := l.States(ctx, t.in(l, places))
		all, errs = all.and(counted), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// Count is as Lab's.
func (t Together) Count(ctx context.Context, places []string) (stop func() (Counted, error), err error) {
	var stops []func() (Counted, error)
	end := func() (Counted, error) {
		var all Counted
		var errs []error
		for _, stop := range stops {
			counted, err := stop()
			all, errs = all.and(counted), append(errs, err)
		}
		return all, errors.Join(errs...)
	}
	for _, l := range t {
		own := t.in(l, places)
		if len(own) == 0 {
			continue
		}
		stop, err := l.Count(ctx, own)
		if err != nil {
			_, errStop := end()
			return nil, errors.Join(err, errStop)
		}
		stops = append(stops, stop)
	}
	return end, nil
}

// in are those of some places that are in a lab.
func (t Together) in(l *Lab, places []string) (own []string) {
	for _, at := range places {
		if t.of(at) == l {
			own = append(own, at)
		}
	}
	return own
}

// and adds what another lab counted.
func (c Counted) and(other Counted) Counted {
	return Counted{
		Readings: append(c.Readings, other.Readings...), States: append(c.States, other.States...),
		Unread: probe.Unread(c.Unread, other.Unread),
	}
}
