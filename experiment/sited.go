package experiment

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tare/probe"
	"tare/result"
	"tare/site"
	"tare/workload"
)

// Sited fits a plan, which is not completed yet, to places that tare did not build: what they
// are connected by, and the paths between them. controls are their congestion controls, and
// between which places each is used; cc is the one that every socket asks for; empty: theirs.
func Sited(p result.Plan, t site.Topology, controls map[string][]string, cc string) (result.Plan, error) {
	names := slices.Sorted(maps.Keys(controls))
	if cc == "" && len(names) > 1 {
		used := result.Names(names, func(name string) string { return name + " from " + controls[name][0] })
		return p, &InputError{"congestion control: it differs between the places, " + strings.Join(used, ", ") + ": choose one with --cc, as in --cc " + names[0]}
	}
	t.Spec.CC = cmp.Or(cc, names[0])
	p.Workloads = slices.Clone(p.Workloads)
	for n := range p.Workloads {
		p.Workloads[n].CC = cmp.Or(p.Workloads[n].CC, cc)
	}
	for _, w := range p.Workloads {
		if kind, known := workload.Find(w.Name); known && (kind.Serve == nil || w.Server != "" && w.Server != workload.Ours || w.Tool != "" && w.Tool != workload.Ours) {
			return p, &InputError{fmt.Sprintf("workload %s: it takes programs besides tare, and nothing is installed at these places: choose another workload, or tare's own server and tool", w.Name)}
		}
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
	if !oneClock(t.Places) {
		p.Design = result.DesignWindows
	}
	return Narrow(p, t)
}

// baselines is how many clusters a site has that is only hosts.
const baselines = 2

// oneClock reports whether all places from which is sent are on one machine, whose clock gives
// slots their time.
func oneClock(places []result.Place) bool {
	var boots []string
	for _, p := range places {
		if strings.HasPrefix(p.Name, "h1") {
			boots = result.AddOnce(boots, p.Boot)
		}
	}
	return len(boots) == 1 && boots[0] != ""
}

// elsewhere reports whether nothing of a run is on this machine.
func (r *runner) elsewhere() bool {
	boot := probe.BootID("/")
	return len(r.Topology.Places) > 0 && !slices.ContainsFunc(r.Topology.Places, func(p result.Place) bool { return p.Boot == boot })
}

// clock is a site that reads the monotonic clock of a place's machine, and says in what time
// that was answered.
type clock interface {
	Clock(ctx context.Context, at string) (now, took time.Duration, err error)
}

// now is what the monotonic clock of a place shows, and how long a message there takes.
func (r *runner) now(ctx context.Context, at string) (now, took time.Duration, err error) {
	if c, far := r.Site.(clock); far {
		return c.Clock(ctx, at)
	}
	var own unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &own); err != nil {
		return 0, 0, fmt.Errorf("read the clock: %w", err)
	}
	return time.Duration(own.Nano()), 0, nil
}
