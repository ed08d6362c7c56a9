package experiment

import (
	"context"

	"tare/probe"
	"tare/result"
)

// conductor has runs measured: it knows the places and what was built there, and reaches their
// agents, servers, neighbours and counters. What they measure is kept elsewhere.
type conductor struct {
	site     Site
	plan     result.Plan
	places   []result.Place // machines that tare did not build
	built    clusters
	daemons  daemons
	sources  sources
	unread   func([]result.Unread) // takes what could not be read
	progress func(Progress)
}

func newConductor(p result.Plan, o Options) *conductor {
	return &conductor{
		site: o.Site, plan: p, places: o.Topology.Places, built: clustersOf(o.Topology),
		daemons: daemonsOf(o.Site, o.Topology), sources: sourcesOf(o.Site),
		unread: func([]result.Unread) {}, progress: o.Progress,
	}
}

// close closes what is read from.
func (c *conductor) close() error {
	if c.sources.machine == nil {
		return nil
	}
	return c.sources.machine.Close()
}

// machines is a site on other machines, which it looks at: by the name of a place on each.
type machines interface {
	Loads(ctx context.Context) (map[string]probe.Load, error)
	CPUTimes(ctx context.Context) (map[string]probe.CPUTimes, error)
}

// loads are how busy the machines of the run are.
func (c *conductor) loads(ctx context.Context) (map[string]probe.Load, error) {
	if far, is := c.site.(machines); is {
		return far.Loads(ctx)
	}
	load, err := probe.ReadLoad("/")
	return map[string]probe.Load{here: load}, err
}

// cpuTimes are how the CPUs of the machines have spent their time.
func (c *conductor) cpuTimes(ctx context.Context) (map[string]probe.CPUTimes, error) {
	if far, is := c.site.(machines); is {
		return far.CPUTimes(ctx)
	}
	times, err := probe.ReadCPUTimes("/")
	return map[string]probe.CPUTimes{here: times}, err
}
