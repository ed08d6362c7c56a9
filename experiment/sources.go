package experiment

import (
	"context"
	"slices"
	"strings"

	"tare/catalog"
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
func (c *conductor) unreadable(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		c.unread([]result.Unread{{Source: "namespaces of the lab", Reason: err.Error()}})
	}
}

// count begins to count on the machine and, where there are any, at the ends of a path
// and their hosts; stop adds what was counted to a sample. Nothing is read in between.
func (c *conductor) count(ctx context.Context, cluster string, ends network.Ends) (stop func(*result.Sample)) {
	stopPlaces := c.countPlaces(ctx, cluster, placesOf(cluster, ends), ends)
	if c.sources.machine == nil {
		return stopPlaces
	}
	before := c.sources.machine.Read()
	return func(s *result.Sample) {
		machine, unread := c.sources.machine.Read().Since(before)
		stopPlaces(s)
		s.Readings = append(machine, s.Readings...)
		c.unread(unread)
	}
}

// countPlaces is count at some places, without the machine, which counts for all that run at
// the time.
func (c *conductor) countPlaces(ctx context.Context, cluster string, places []string, ends network.Ends) (stop func(*result.Sample)) {
	if c.sources.site == nil {
		return func(*result.Sample) {}
	}
	stopPlaces := func() (site.Counted, error) { return site.Counted{}, nil }
	if ends.Client != "" {
		stop, err := c.sources.site.Count(ctx, places)
		c.unreadable(ctx, err)
		if err == nil {
			stopPlaces = stop
		}
	}
	return func(s *result.Sample) {
		counted, err := stopPlaces()
		c.unreadable(ctx, err)
		c.unread(counted.Unread)
		for n := range counted.Readings {
			counted.Readings[n].At = strings.TrimPrefix(counted.Readings[n].At, cluster+".")
		}
		s.Readings = append(counted.Readings, placed(s.Readings, ends)...)
	}
}

// ownPlaces are the places of each arm that no other one has: what others count there too is
// no evidence of one. In a lab each network has its own hosts.
func (c *conductor) ownPlaces(arms []*arm) [][]string {
	_, far := c.site.(remote)
	label := func(at string) string { return site.Label(catalog.SplitPlace(at)) }
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

// states are those of the machine and of every place of some groups' paths, to be read once
// each has carried packets.
func (c *conductor) states(ctx context.Context, groups []group) (states []result.State) {
	if c.sources.site == nil {
		return nil
	}
	var places []string
	for _, g := range groups {
		for _, at := range g.places {
			if ends, there := c.built.ends(at.cluster, g.path); there {
				for _, place := range placesOf(at.cluster, ends) {
					places = result.AddOnce(places, place)
				}
			}
		}
	}
	counted, err := c.sources.site.States(ctx, places)
	c.unreadable(ctx, err)
	if c.sources.machine != nil {
		machine, unread := probe.Look("/", probe.Machine)
		states = machine
		c.unread(unread)
	}
	c.unread(counted.Unread)
	return append(states, counted.States...)
}
