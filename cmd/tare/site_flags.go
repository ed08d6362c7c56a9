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
	each      bool // each machine is taken by itself, and there may be any number of them

	ofPairs [][]string  // the pairs of machines that are measured, where they are several
	opener  site.Opener // of the places; nil: a lab
	goal    string      // what it reaches, for messages
}

// sites are the words of --site.
var sites = []string{result.SiteLab, result.SiteEndpoint, result.SiteSSH, result.SiteDocker, result.SiteKubernetes}

func (f *siteFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.kind, "site", "", "where the ends are: "+strings.Join(sites, ", ")+" (default: what the flags below are of, else lab)")
	flags.StringArrayVar(&f.endpoints, "endpoint", nil, "an end, and the command that reaches it, as in h1='ssh a' or h1/c1='docker exec -i web'; once for each of "+strings.Join(site.Places(), ", "))
	flags.StringSliceVar(&f.machines, "machines", nil, "machines that ssh reaches, as in a,b; more than two are measured in pairs")
	flags.StringVar(&f.in, "in", "", "with --machines: the command that reaches a container on each, as in 'podman exec -i web'")
	flags.StringArrayVar(&f.contexts, "docker-context", nil, "a Docker engine by its context; twice for two (default: the engine in use)")
	flags.StringVar(&f.client, "docker-command", "", "with --site docker: the engine's client, as in podman (default: docker, or podman where there is none)")
	registerCluster(flags, &f.cluster, "nodes, as in a,b; more than two are measured in pairs (default: two ready ones of one zone and type)")
	registerProbe(flags, &f.cluster)
	flags.StringVar(&f.program, "far-path", "", "the tare that is there already, at every end (default: this one is sent)")
}

// ofLabs are the flags that change a lab, or need one.
var ofLabs = []string{
	"nic", "link", "mtu", "ip", "gso-max", "pin", "rps", "cpus", "cpus-each", "lab", "check", "kernel", "need", "fix-and-verify", "load-modules",
}

// read checks what was given, and whether there is a site beside a lab.
func (f *siteFlags) read(flags *pflag.FlagSet) (bool, error) {
	if err := f.choose(flags); err != nil || f.kind == result.SiteLab {
		return false, err
	}
	if f.kind != result.SiteDocker && flags.Changed("networks") {
		return false, wrong("--site %s and --networks: what is there is measured as it is: leave one of them out", f.kind)
	}
	for _, other := range ofLabs {
		if flags.Changed(other) {
			return false, wrong("--site %s and --%s: what is there is measured as it is: leave one of them out", f.kind, other)
		}
	}
	return true, f.make(flags)
}

// flagsOf are the flags that belong to a site.
var flagsOf = map[string][]string{
	result.SiteEndpoint:   {"endpoint", "far-path"},
	result.SiteSSH:        {"machines", "in", "far-path", "pairs"},
	result.SiteDocker:     {"docker-context", "docker-command"},
	result.SiteKubernetes: {"context", "namespace", "nodes", "selector", "tolerations", "image", "pairs", "pods", "probe-nodes"},
}

// choose finds out which site is meant.
func (f *siteFlags) choose(flags *pflag.FlagSet) error {
	if f.kind != "" && !slices.Contains(sites, f.kind) {
		return &exitError{exitWrong, experiment.Unknown("site", f.kind, sites)}
	}
	if f.kind == "" {
		f.kind = result.SiteLab
		for _, kind := range sites[1:] {
			if flags.Changed(flagsOf[kind][0]) {
				f.kind = kind
				break
			}
		}
	}
	if f.kind == result.SiteLab {
		switch {
		case flags.Changed("max-rate"):
			return wrong("--max-rate: the links of a lab are its own, which nobody else needs: leave it out, or give them a rate with --link")
		case flags.Changed("site"):
		case flags.Changed("pairs"):
			return wrong("--pairs: name the machines too, as in --machines a,b,c,d")
		case f.in != "":
			return wrong("--in: name the machines too, as in --machines a,b")
		case f.program != "":
			return wrong("--far-path: name the ends too, as in --endpoint h1='ssh a' or --machines a,b")
		}
	}
	for _, kind := range sites[1:] {
		for _, name := range flagsOf[kind] {
			if flags.Lookup(name) == nil || !flags.Changed(name) || slices.Contains(flagsOf[f.kind], name) {
				continue
			}
			if !flags.Changed("site") && f.kind == result.SiteLab {
				return wrong("--%s: it goes with --site %s: add that, or leave it out", name, kind)
			}
			return wrong("--site %s and --%s: they do not go together: leave one of them out", f.kind, name)
		}
	}
	return nil
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
	several := flags.Lookup("pairs") != nil
	switch {
	case len(machines) > 2 && !several && !f.each:
		return wrong("--site %s: name one machine or two, as in --%s a,b", f.kind, flagOfMachines[f.kind])
	case several && flags.Changed("pairs") && f.pairs < 1:
		return wrong("--pairs %d: it must be at least 1", f.pairs)
	case several && len(machines) == 0 && f.kind == result.SiteKubernetes:
		f.between(nil) // they are chosen in the cluster
	case several && (len(machines) > 2 || f.pairs > 1):
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
