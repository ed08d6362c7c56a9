package experiment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tare/catalog"
	"tare/network"
	"tare/result"
	"tare/site"
	"tare/workload"
)

// Sited fits a plan, which is not completed yet, to places that tare did not build: what they
// are connected by, and the paths between them. controls are their congestion controls, and
// between which places each is used; cc is the one that sockets shall ask for; empty: theirs.
func Sited(p result.Plan, t site.Topology, controls map[string][]string, cc string) (result.Plan, error) {
	if used := slices.Sorted(maps.Keys(controls)); len(used) == 1 {
		t.Spec.CC = used[0]
	}
	p.Workloads = slices.Clone(p.Workloads)
	for n := range p.Workloads {
		w := &p.Workloads[n]
		kind, known := workload.Find(w.Name)
		if known && (kind.Serve == nil || notOurs(w.Server) != "" || notOurs(w.Tool) != "") {
			return p, &InputError{fmt.Sprintf("workload %s: it takes programs besides tare, and nothing is installed at these places: choose another workload, or tare's own server and tool", w.Name)}
		}
		if !slices.Contains(kind.Takes, catalog.TakesCC) || w.CC != "" {
			continue
		}
		w.CC = cc
	}
	var there []string
	for _, b := range t.Clusters {
		for path := range b.Paths {
			if !b.Baseline || len(t.Clusters) == baselines {
				there = result.AddOnce(there, path)
			}
		}
	}
	asked := p.Paths
	p.Paths = slices.DeleteFunc(slices.Clone(asked), func(path string) bool { return !slices.Contains(there, path) })
	if len(p.Paths) == 0 {
		slices.Sort(there)
		return p, &InputError{fmt.Sprintf("paths %s: these places have none of them: take some of %s", strings.Join(asked, ", "), strings.Join(there, ", "))}
	}
	if p.Reference = referenceOf(t.Clusters, p.Paths); p.Reference != "" || !oneClock(t.Places) {
		p.Design = result.DesignWindows
	}
	p, err := Narrow(p, t)
	p.Axes = p.Axes.With("cc", t.Spec.CC) // empty: it differs, and what does not choose one has that of its place
	return p, err
}

// referenceOf is the path that the others are held against, where no host is there to be the
// baseline: the shortest. Empty: one is there.
func referenceOf(clusters []site.Built, paths []string) string {
	if slices.ContainsFunc(clusters, func(b site.Built) bool { return b.Baseline }) {
		return ""
	}
	if slices.Contains(paths, catalog.SameHost) {
		return catalog.SameHost
	}
	return paths[0]
}

// Unlike says where the places differ in their congestion control, and what that means. common
// is one that all of them may have; empty: there is none.
func Unlike(controls map[string][]string, common string) string {
	differ := "congestion control differs between the places, " + usedBetween(controls)
	if common == "" {
		return differ + ": none can be chosen for all of them, so that a toll of bulk data is that of the congestion control too"
	}
	return differ + ": bulk data has " + common + ", unless --cc chooses another"
}

// usedBetween says which congestion control is used from where to where.
func usedBetween(controls map[string][]string) string {
	used := result.Names(slices.Sorted(maps.Keys(controls)), func(name string) string { return name + " from " + controls[name][0] })
	return strings.Join(used, ", ")
}

// baselines is how many clusters a site has that is only hosts.
const baselines = 2

// oneClock reports whether all places from which is sent are on one machine, whose clock gives
// slots their time.
func oneClock(places []result.Place) bool {
	var boots []string
	for _, p := range places {
		if catalog.HostOf(p.Name) == "h1" {
			boots = result.AddOnce(boots, p.Boot)
		}
	}
	return len(boots) == 1 && boots[0] != ""
}

// apart reports whether two ends are on different machines, and so on different CPUs.
func apart(places []result.Place, ends network.Ends) bool {
	return bootOf(places, ends.Client) != bootOf(places, ends.Server)
}

// bootOf is the machine that a place is on; empty: the lab's.
func bootOf(places []result.Place, name string) string {
	p, there := result.First(places, func(p result.Place) bool { return p.Name == name })
	if !there { // a container that the site made is on its host's machine
		p, _ = result.First(places, func(p result.Place) bool { return p.Name == catalog.HostOf(name) })
	}
	return p.Boot
}

// clock is a site that reads the monotonic clock of a place's machine, and says in what time
// that was answered.
type clock interface {
	Clock(ctx context.Context, at string) (now, took time.Duration, err error)
}

// now is what the monotonic clock of a place shows, and how long a message there takes.
func (c *conductor) now(ctx context.Context, at string) (now, took time.Duration, err error) {
	if s, far := c.site.(clock); far {
		return s.Clock(ctx, at)
	}
	var own unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &own); err != nil {
		return 0, 0, fmt.Errorf("read the clock: %w", err)
	}
	return time.Duration(own.Nano()), 0, nil
}
