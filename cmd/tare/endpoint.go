package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tare/diagnose"
	"tare/experiment"
	"tare/network"
	"tare/result"
	"tare/site"
)

// siteFlags name places that tare did not build.
type siteFlags struct {
	kind      string
	endpoints []string
	program   string
	places    []site.Far
}

func (f *siteFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.kind, "site", "", "where the ends are: lab, which tare builds, or endpoint (default: endpoint with --endpoint, else lab)")
	flags.StringArrayVar(&f.endpoints, "endpoint", nil, "an end, and the command that reaches it, as in h1='ssh a' or h1/c1='docker exec -i web'; once for each of "+strings.Join(site.Places(), ", "))
	flags.StringVar(&f.program, "far-path", "", "the tare that is there already, at every end (default: this one is sent, and removed)")
}

// ofLabs are the flags that change a lab, or need one.
var ofLabs = []string{
	"networks", "nic", "link", "mtu", "pin", "rps", "cpus", "lab", "check", "kernel", "need", "fix-and-verify", "load-modules",
}

// read checks what was given, and whether there is a site beside a lab.
func (f *siteFlags) read(flags *pflag.FlagSet) (bool, error) {
	switch {
	case f.kind != "" && f.kind != result.SiteLab && f.kind != result.SiteEndpoint:
		return false, &exitError{exitWrong, experiment.Unknown("site", f.kind, []string{result.SiteLab, result.SiteEndpoint})}
	case f.kind == result.SiteLab && len(f.endpoints) > 0:
		return false, wrong("--site lab and --endpoint: they do not go together: leave one of them out")
	case f.kind == result.SiteEndpoint && len(f.endpoints) == 0:
		return false, wrong("--site endpoint: name the ends, as in --endpoint h1='ssh a' --endpoint h2='ssh b'")
	case len(f.endpoints) == 0:
		if f.program != "" {
			return false, wrong("--far-path: name the ends too, as in --endpoint h1='ssh a'")
		}
		return false, nil
	}
	for _, other := range ofLabs {
		if flags.Changed(other) {
			return false, wrong("--endpoint and --%s: what is there is measured as it is: leave one of them out", other)
		}
	}
	for _, text := range f.endpoints {
		name, command, has := strings.Cut(text, "=")
		if !has {
			return false, wrong("--endpoint %s: write NAME='COMMAND', as in h1='ssh a'", text)
		}
		if !slices.Contains(site.Places(), name) {
			return false, &exitError{exitWrong, experiment.Unknown("endpoint", name, site.Places())}
		}
		if slices.ContainsFunc(f.places, func(p site.Far) bool { return p.Name == name }) {
			return false, wrong("--endpoint %s is there twice: keep one", name)
		}
		f.places = append(f.places, site.Far{Name: name, Command: strings.TrimSpace(command), Program: f.program})
	}
	if !slices.ContainsFunc(f.places, func(p site.Far) bool { return p.Name == "h1" }) {
		return false, wrong("--endpoint h1 is missing: it is the host that the others are compared with, as in --endpoint h1='ssh a'; an empty command is this machine")
	}
	return true, nil
}

// runAtPlaces measures between places that tare did not build, and reports.
func runAtPlaces(ctx context.Context, s streams, f runFlags, flags *pflag.FlagSet) error {
	progress := newProgress(f.progressTo(s))
	defer progress.end()
	if f.dryRun {
		return f.atPlaces(ctx, progress, flags, func(_ *site.Endpoints, plan result.Plan) error { return printPlan(s, plan) })
	}
	return f.deliver(s, experiment.SizeOf(experiment.Complete(f.open)), func(save func(*result.Result) error) (res *result.Result, err error) {
		err = f.atPlaces(ctx, progress, flags, func(e *site.Endpoints, plan result.Plan) (err error) {
			res, err = experiment.Run(ctx, plan, experiment.Options{
				Site: e, Topology: e.Topology, Tool: tool(), Save: save, Progress: progress.show,
			})
			if res == nil || err != nil {
				return err
			}
			for _, why := range e.Unreached {
				res.Warnings = append(res.Warnings, "unreached: "+why.Error())
			}
			diagnose.Weigh(res, "")
			return save(res)
		})
		return res, err
	})
}

// atPlaces reaches the places, and does something with a plan that fits them.
func (f runFlags) atPlaces(ctx context.Context, progress *progress, flags *pflag.FlagSet, do func(*site.Endpoints, result.Plan) error) (err error) {
	progress.print(fmt.Sprintf("reaching %s", strings.Join(result.Names(f.site.places, func(p site.Far) string { return p.Name }), ", ")))
	e, err := site.Reach(ctx, f.site.places, version)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	for _, line := range reached(e) {
		progress.print(line)
	}
	cc := ""
	if flags.Changed("cc") {
		cc = f.cc
	}
	plan, err := experiment.Sited(f.open, e.Topology, e.Controls, cc)
	if err != nil {
		return err
	}
	return do(e, plan)
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
		for _, path := range network.Paths() {
			if ends, there := b.Paths[path]; there && ends.Client != ends.Server {
				lines = result.AddOnce(lines, fmt.Sprintf("%s reaches %s at %s", ends.Client, ends.Server, ends.Dial))
			}
		}
	}
	for _, why := range e.Unreached {
		lines = append(lines, result.Plain(why.Error()))
	}
	return lines
}
