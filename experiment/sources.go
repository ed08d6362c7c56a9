package experiment

import (
	"context"
	"slices"
	"strings"

	"tare/network"
	"tare/probe"
	"tare/result"
	"tare/site"
)

// counter is a site that can read what the kernel reports about its places.
type counter interface {
	Count(ctx context.Context, places []string) (stop func() (site.Counted, error), err error)
	States(ctx context.Context, places []string) (site.Counted, error)
}

// sources are what is read around every run, and once before the first.
type sources struct {
	site    counter       // nil: it can't read its places
	machine *probe.Reader // nil: the places are on other machines
}

func sourcesOf(s Site) sources {
	c, _ := s.(counter)
	if _, far := s.(remote); far || c == nil {
		return sources{site: c}
	}
	return sources{c, probe.NewReader("/", probe.Machine)}
}

// unreadable names the places of a site whose counters could not be read.
func (r *runner) unreadable(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		r.res.Unread = probe.Unread(r.res.Unread, []result.Unread{{Source: "namespaces of the lab", Reason: err.Error()}})
	}
}

// count begins to count on the machine and, where there are any, at the ends of a path
// and their hosts; stop adds what was counted to a sample. Nothing is read in between.
func (r *runner) count(ctx context.Context, cluster string, ends network.Ends) (stop func(*result.Sample)) {
	stopPlaces := r.countPlaces(ctx, cluster, placesOf(cluster, ends), ends)
	if r.sources.machine == nil {
		return stopPlaces
	}
	before := r.sources.machine.Read()
	return func(s *result.Sample) {
		machine, unread := r.sources.machine.Read().Since(before)
		stopPlaces(s)
		s.Readings = append(machine, s.Readings...)
		r.res.Unread = probe.Unread(r.res.Unread, unread)
	}
}

// countPlaces is count at some places, without the machine, which counts for all that run at
// the time.
func (r *runner) countPlaces(ctx context.Context, cluster string, places []string, ends network.Ends) (stop func(*result.Sample)) {
	if r.sources.site == nil {
		return func(*result.Sample) {}
	}
	stopPlaces := func() (site.Counted, error) { return site.Counted{}, nil }
	if ends.Client != "" {
		stop, err := r.sources.site.Count(ctx, places)
		r.unreadable(ctx, err)
		if err == nil {
			stopPlaces = stop
		}
	}
	return func(s *result.Sample) {
		counted, err := stopPlaces()
		r.unreadable(ctx, err)
		r.res.Unread = probe.Unread(r.res.Unread, counted.Unread)
		for n := range counted.Readings {
			counted.Readings[n].At = strings.TrimPrefix(counted.Readings[n].At, cluster+".")
		}
		s.Readings = append(counted.Readings, placed(s.Readings, ends)...)
	}
}

// ownPlaces are the places of each arm that no other one has: what others count there too is
// no evidence of one. In a lab each network has its own hosts.
func (r *runner) ownPlaces(arms []*arm) [][]string {
	_, far := r.Site.(remote)
	label := func(at string) string { return site.Label(network.SplitPlace(at)) }
	arrivals := map[string]int{}
	for _, a := range arms {
		for _, at := range placesOf(a.place.cluster, a.ends) {
			arrivals[label(at)]++
		}
	}
	own := make([][]string, len(arms))
	for n, a := range arms {
		own[n] = slices.DeleteFunc(placesOf(a.place.cluster, a.ends), func(at string) bool { return far && arrivals[label(at)] > 1 })
	}
	return own
}

// readStates reads the state of the machine and of every place of the plan's
// paths, now that each has carried packets.
func (r *runner) readStates(ctx context.Context) {
	if r.sources.site == nil {
		return
	}
	var places []string
	asked := map[string]bool{}
	for _, g := range r.groups {
		for _, c := range g.places {
			ends, there := r.ends[c.cluster][g.path]
			if !there {
				continue
			}
			for _, at := range placesOf(c.cluster, ends) {
				if !asked[at] {
					asked[at], places = true, append(places, at)
				}
			}
		}
	}
	counted, err := r.sources.site.States(ctx, places)
	r.unreadable(ctx, err)
	if r.sources.machine != nil {
		states, unread := probe.Look("/", probe.Machine)
		r.res.States, r.res.Unread = states, probe.Unread(r.res.Unread, unread)
	}
	r.res.States = append(r.res.States, counted.States...)
	r.res.Unread = probe.Unread(r.res.Unread, counted.Unread)
}
