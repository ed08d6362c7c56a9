package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"tare/catalog"
	"tare/diagnose"
	"tare/experiment"
	"tare/result"
	"tare/site"
	"tare/site/kubernetes"
)

// runElsewhere measures at a site that is no lab, or shows what it would make there.
func runElsewhere(ctx context.Context, s streams, f runFlags, flags *pflag.FlagSet) error {
	switch ofCluster := f.site.kind == result.SiteKubernetes; {
	case ofCluster && f.open.MaxTime.Duration() >= kubernetes.Deadline:
		return wrong("--max-time %s: the pods of a run end after %s: choose less", f.open.MaxTime.Duration(), kubernetes.Deadline)
	case ofCluster && f.dryRun:
		return f.site.showObjects(ctx, s)
	case ofCluster && f.site.pairs > 1 && len(f.site.ofPairs) == 0:
		if err := f.site.choosePairs(ctx); err != nil {
			return err
		}
		return runOnPairs(ctx, s, f, flags)
	case len(f.site.ofPairs) > 0:
		return runOnPairs(ctx, s, f, flags)
	}
	return runAtPlaces(ctx, s, f, flags)
}

// choosePairs chooses pairs of nodes in the cluster.
func (f *siteFlags) choosePairs(ctx context.Context) error {
	nodes, err := f.cluster.ForPairs(ctx, f.pairs)
	if err == nil {
		f.ofPairs, err = experiment.PairsOf(nodes, f.pairs)
	}
	return err
}

// runAtPlaces measures between places that tare did not build, and reports.
func runAtPlaces(ctx context.Context, s streams, f runFlags, flags *pflag.FlagSet) error {
	progress := newProgress(f.progressTo(s))
	defer progress.end()
	if f.dryRun {
		return f.atPlaces(ctx, progress, flags, func(_ *site.Endpoints, plan result.Plan) error { return printPlan(s, plan) })
	}
	return f.deliver(s, experiment.SizeOf(experiment.Complete(f.open)), func(save func(*result.Result) error) (*result.Result, error) {
		defer progress.end() // the answer follows
		return f.measureAtPlaces(ctx, progress, flags, save)
	})
}

// showObjects prints what a run would make in the cluster, on the first pair of nodes.
func (f *siteFlags) showObjects(ctx context.Context, s streams) error {
	cluster := f.cluster
	if len(f.ofPairs) > 0 {
		cluster.Nodes = f.ofPairs[0]
	}
	return printObjects(ctx, s, cluster)
}

// planner is what says beforehand what it would make in a cluster.
type planner interface {
	Objects(ctx context.Context) (string, error)
}

func printObjects(ctx context.Context, s streams, of planner) error {
	text, err := of.Objects(ctx)
	if err == nil {
		_, err = io.WriteString(s.out, text)
	}
	return err
}

// measureAtPlaces measures between the places, and explains what that gave.
func (f runFlags) measureAtPlaces(ctx context.Context, progress *progress, flags *pflag.FlagSet, save func(*result.Result) error) (res *result.Result, err error) {
	err = f.atPlaces(ctx, progress, flags, func(e *site.Endpoints, plan result.Plan) (err error) {
		for _, line := range load(plan, experiment.TimeOf(plan), e.Topology.Places) {
			progress.say(line)
		}
		reference := ""
		if plan.Reference != "" {
			reference = fmt.Sprintf("no host is named, so that nothing is weighed against one: paths are held against %s", plan.Reference)
			progress.say(reference)
		}
		res, err = experiment.Run(ctx, plan, experiment.Options{
			Site: site.Examined{Endpoints: e}, Topology: e.Topology, Tool: tool(), Save: save, Progress: progress.show, SoFar: progress.soFar(f.lang), Yield: f.yield,
		})
		if res == nil || err != nil {
			return err
		}
		if reference != "" {
			res.Warnings = append(res.Warnings, "reference: "+reference)
		}
		res.Facts = e.Facts
		for _, why := range e.Unreached {
			res.Warnings = append(res.Warnings, "unreached: "+why.Error())
		}
		for _, text := range e.Differences {
			res.Warnings = append(res.Warnings, "unlike: "+text)
		}
		diagnose.Weigh(res, "")
		return save(res)
	})
	return res, err
}

// atPlaces reaches the places, and does something with a plan that fits them.
func (f runFlags) atPlaces(ctx context.Context, progress *progress, flags *pflag.FlagSet, do func(*site.Endpoints, result.Plan) error) (err error) {
	e, err := f.site.reach(ctx, progress)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	cc := e.Common
	if flags.Changed("cc") {
		cc = *f.axes["cc"]
	} else if len(e.Controls) > 1 {
		unlike := experiment.Unlike(e.Controls, cc)
		e.Differences = append(e.Differences, unlike)
		progress.say(unlike)
	}
	open := f.open
	open.MaxRate = cmp.Or(open.MaxRate, result.BitsPerSecond(e.LinkRate/usualShare))
	plan, err := experiment.Sited(open, e.Topology, e.Controls, cc)
	if len(f.site.ofPairs) == 0 { // of several pairs each is a block
		err = cmp.Or(err, experiment.CheckTime(plan))
	}
	if err != nil {
		return err
	}
	return do(e, plan)
}

// reach reaches the places of the site, and says which machines they are on.
func (f *siteFlags) reach(ctx context.Context, progress *progress) (*site.Endpoints, error) {
	progress.say("reaching " + f.goal)
	way, err := f.opener.Open(ctx)
	if err != nil {
		return nil, err
	}
	progress.print(fmt.Sprintf("starting tare at %s", strings.Join(result.Names(way.Places, site.Far.Label), ", ")))
	e, err := site.Reach(ctx, way, version)
	if err != nil {
		return nil, err
	}
	for _, line := range append(slices.Clone(e.Facts), reached(e)...) {
		progress.say(line)
	}
	return e, nil
}

// usualShare is which part of a link a run takes over longer times, unless it may have more.
const usualShare = 10

// load says what a plan puts on what others use, and for how long.
func load(plan result.Plan, long time.Duration, places []result.Place) []string {
	names := result.Names(plan.Workloads, func(w result.WorkloadPlan) string { return w.Name })
	lines := []string{fmt.Sprintf("for about %s these ends are loaded by %s, each as fast as it goes unless --rate says otherwise; Ctrl-C ends it and keeps what is measured",
		long.Round(time.Second), strings.Join(names, ", "))}
	switch {
	case !slices.ContainsFunc(places, func(p result.Place) bool { return p.Boot != places[0].Boot }):
		return lines
	case plan.MaxRate > 0:
		return append(lines, fmt.Sprintf("between the machines that is at most %s on average over more than 10 s: the run pauses where it sends more, unless --max-rate allows it", plan.MaxRate))
	}
	return append(lines, "what the link between the machines can carry is not known, so that nothing keeps the run within a part of it: --max-rate 100mbit does")
}

// reached says which machines the places are on, and how they reach each other.
func reached(e *site.Endpoints) (lines []string) {
	var boots []string
	on := map[string][]string{}
	for _, p := range e.Topology.Places {
		boots = result.AddOnce(boots, p.Boot)
		on[p.Boot] = append(on[p.Boot], p.Name)
	}
	for _, boot := range boots {
		at := slices.IndexFunc(e.Topology.Places, func(p result.Place) bool { return p.Boot == boot })
		env := e.Topology.Places[at].Environment
		lines = append(lines, result.Plain(fmt.Sprintf("%s: Linux %s, CPU %s, %d CPUs", strings.Join(on[boot], ", "), env.Kernel, env.CPUModel, env.CPUs)))
	}
	for _, b := range e.Topology.Clusters {
		for _, path := range catalog.Paths() {
			if ends, there := b.Paths[path]; there && ends.Client != ends.Server {
				lines = result.AddOnce(lines, fmt.Sprintf("%s reaches %s at %s", site.Label(b.Name, ends.Client), site.Label(b.Name, ends.Server), ends.Dial))
			}
		}
	}
	for _, text := range e.Differences {
		lines = append(lines, result.Plain(text))
	}
	for _, why := range e.Unreached {
		lines = append(lines, result.Plain(why.Error()))
	}
	return lines
}
