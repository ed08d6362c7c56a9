package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tare/catalog"
	"tare/experiment"
	"tare/result"
	"tare/site"
	"tare/site/kubernetes"
)

// siteFlags name places that tare did not build.
type siteFlags struct {
	kind      string
	endpoints []string
	machines  []string
	in        string
	contexts  []string
	client    string
	program   string
	cluster   kubernetes.Site
	pairs     int
	pair      bool // more than two machines are measured in pairs
	each      bool // each machine is taken by itself, and there may be any number of them

	ofPairs [][]string  // the pairs of machines that are measured, where they are several
	opener  site.Opener // of the places; nil: a lab
	goal    string      // what it reaches, for messages
}

// register registers the flags of sites that a verb reads.
func (f *siteFlags) register(verb *pflag.FlagSet, job jobs) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	defer take(verb, flags, job)
	flags.StringVar(&f.kind, "site", "", "where the ends are: "+strings.Join(siteNames(), ", ")+" (default: by the other flags, else lab)")
	flags.StringArrayVar(&f.endpoints, "endpoint", nil, "an end and the command that reaches it, as h1='ssh a' or h1/c1='docker exec -i web'; once for each of "+strings.Join(site.Places(), ", "))
	flags.StringSliceVar(&f.machines, "machines", nil, "machines that ssh reaches, as in a,b; more than two are measured in pairs")
	flags.StringVar(&f.in, "in", "", "the command that reaches a container on each, as in 'podman exec -i web'")
	flags.StringArrayVar(&f.contexts, "docker-context", nil, "a Docker engine by its context; twice for two (default: the engine in use)")
	flags.StringVar(&f.client, "docker-command", "", "the engine's client, as in podman (default: docker, or podman where there is none)")
	registerCluster(flags, &f.cluster)
	registerProbe(flags, &f.cluster)
	flags.StringVar(&f.program, "far-path", "", "the tare that is there already, at every end (default: this one is sent)")
}

// read finds out which site is meant, and makes what opens it; false: it is a lab.
func (f *siteFlags) read(flags *pflag.FlagSet) (bool, error) {
	chosen, err := siteOf(flags)
	if f.kind = chosen.site; err != nil || f.kind == result.SiteLab {
		return false, err
	}
	return true, f.make(flags)
}

// make makes what opens the site.
func (f *siteFlags) make(flags *pflag.FlagSet) error {
	switch f.kind {
	case result.SiteSSH:
		if len(f.machines) == 0 {
			return wrong("--site ssh: name one machine or two, as in --machines a,b")
		}
		return f.inPairs(flags, f.machines)
	case result.SiteDocker:
		if len(f.contexts) > 2 {
			return wrong("--docker-context: name one engine or two")
		}
		docker := site.Docker{Command: f.client, Contexts: f.contexts}
		if given := flags.Lookup("networks"); given != nil && given.Changed {
			for _, name := range list(given.Value.String(), nil) {
				docker.Networks = append(docker.Networks, strings.TrimPrefix(name, catalog.DockerPrefix))
			}
			if len(docker.Networks) == 0 {
				return wrong("--networks is empty: write a comma list")
			}
			if err := given.Value.Set(""); err != nil {
				return err
			}
			given.Changed = false // they are the engine's, and not of a plan
		}
		f.opener, f.goal = docker, "Docker"
		if len(f.contexts) > 0 {
			f.goal += " at " + strings.Join(f.contexts, ", ")
		}
	case result.SiteKubernetes:
		if flags.Changed("pairs") && len(f.cluster.Nodes) == 1 {
			return wrong("--pairs: name two nodes or more, as in --nodes a,b,c,d, or none: then those are taken that are alike")
		}
		if err := readLoad(flags, &f.cluster.Load); err != nil {
			return err
		}
		return f.inPairs(flags, f.cluster.Nodes)
	default:
		places, err := f.commands()
		if err != nil {
			return err
		}
		f.opener, f.goal = places, strings.Join(result.Names(places, site.Far.Label), ", ")
	}
	return nil
}

// networks are those that may be found at the site, by which a plan is checked before any place is
// reached; none for a lab.
func (f *siteFlags) networks() []result.NetworkPlan {
	switch f.kind {
	case result.SiteKubernetes:
		return result.NetworksNamed(catalog.Baseline, catalog.Pods)
	case result.SiteDocker:
		return result.NetworksNamed(catalog.Baseline, catalog.DockerPrefix)
	case result.SiteEndpoint, result.SiteSSH:
		return result.NetworksNamed(catalog.Baseline, catalog.Endpoint)
	}
	return nil
}

// inPairs makes what opens one machine or two, or chooses pairs of more than two.
func (f *siteFlags) inPairs(flags *pflag.FlagSet, machines []string) (err error) {
	switch {
	case len(machines) > 2 && !f.pair && !f.each:
		return wrong("--site %s: name one machine or two, as in --%s a,b", f.kind, flagOfMachines[f.kind])
	case f.pair && flags.Changed("pairs") && f.pairs < 1:
		return wrong("--pairs %d: it must be at least 1", f.pairs)
	case f.pair && len(machines) == 0 && f.kind == result.SiteKubernetes:
		f.between(nil) // they are chosen in the cluster
	case f.pair && (len(machines) > 2 || f.pairs > 1):
		if f.ofPairs, err = experiment.PairsOf(machines, f.pairs); err != nil {
			return &exitError{exitWrong, err}
		}
	default:
		f.between(machines)
	}
	return nil
}

// flagOfMachines is the flag that names them, by site.
var flagOfMachines = map[string]string{result.SiteSSH: "machines", result.SiteKubernetes: "nodes"}

// between makes what opens one machine or two.
func (f *siteFlags) between(machines []string) {
	if f.kind == result.SiteKubernetes {
		f.cluster.Nodes = machines
		f.opener, f.goal = f.cluster, "the cluster"
		if f.cluster.Context != "" {
			f.goal += " of context " + f.cluster.Context
		}
		return
	}
	f.opener, f.goal = site.SSH{Machines: machines, In: f.in, Program: f.program}, strings.Join(machines, ", ")+" by ssh"
}

// commands reads --endpoint.
func (f *siteFlags) commands() (places site.Commands, err error) {
	if len(f.endpoints) == 0 {
		return nil, wrong("--site endpoint: name the ends, as in --endpoint h1='ssh a' --endpoint h2='ssh b'")
	}
	for _, text := range f.endpoints {
		name, command, has := strings.Cut(text, "=")
		if !has {
			return nil, wrong("--endpoint %s: write NAME='COMMAND', as in h1='ssh a'", text)
		}
		if !slices.Contains(site.Places(), name) {
			return nil, &exitError{exitWrong, experiment.Unknown("endpoint", name, site.Places())}
		}
		if slices.ContainsFunc(places, func(p site.Far) bool { return p.Name == name }) {
			return nil, wrong("--endpoint %s is there twice: keep one", name)
		}
		places = append(places, site.Far{Name: name, Command: strings.TrimSpace(command), Program: f.program})
	}
	named := func(name string) bool {
		return slices.ContainsFunc(places, func(p site.Far) bool { return p.Name == name })
	}
	if !named("h1") && (named("h2") || !named("h1/c1")) {
		return nil, wrong("--endpoint h1 is missing: it is the host that the others are compared with, as in --endpoint h1='ssh a'; an empty command is this machine. Where no command reaches a host, name containers alone, h1/c1 first")
	}
	return places, nil
}
