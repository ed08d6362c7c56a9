package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tare/catalog"
	"tare/experiment"
	"tare/result"
	"tare/site"
)

// leastNodes is how many nodes a mesh has at least: one that is suspected is measured again
// with three others.
const leastNodes = 4

// groupOf is the group of each node that --group names.
func (f *meshFlags) groupOf() (map[string]string, error) {
	groups := map[string]string{}
	for _, text := range f.groups {
		name, members, has := strings.Cut(text, "=")
		if !has || name == "" || members == "" {
			return nil, wrong("--group %s: write NAME=NODE,NODE, as in rack1=a,b", text)
		}
		for _, node := range list(members, nil) {
			if other, there := groups[node]; there {
				return nil, wrong("--group %s: %s is in %s too: keep one", text, node, other)
			}
			groups[node] = name
		}
	}
	return groups, nil
}

// joinLab takes the hosts of a running lab as nodes. They share this machine.
func (f *meshFlags) joinLab(ctx context.Context, m *experiment.Meshing) (end func() error, names []string, err error) {
	l, err := site.Join(ctx, f.lab)
	if err != nil {
		return nil, nil, labError(err)
	}
	cluster, _ := catalog.SplitPlace(l.Topology.Full("h1"))
	if sets := boundTo(l.Topology, cluster); len(sets) > 1 {
		return nil, nil, errors.Join(wrong("--lab %s: its hosts are bound to CPUs %s: a pair that shares them differs from one that does not: build the lab with --pin same",
			f.lab, strings.Join(sets, " and ")), l.Close())
	}
	m.Site, m.Ends = l, l.Ends
	for _, at := range l.Topology.Hosts(cluster) {
		_, name := catalog.SplitPlace(at)
		names = append(names, name)
		m.Nodes = append(m.Nodes, experiment.MeshNode{MeshNode: result.MeshNode{Name: name}, At: at, Boot: f.lab})
	}
	return l.Close, names, nil
}

// boundTo are the lists of CPUs that hosts of a lab's network are bound to, each once.
func boundTo(t site.Topology, cluster string) (sets []string) {
	for _, b := range t.Clusters {
		if b.Name == cluster {
			for _, host := range slices.Sorted(maps.Keys(b.CPUs)) {
				sets = result.AddOnce(sets, b.CPUs[host])
			}
		}
	}
	return sets
}

// reachMachines starts an outpost at each node. One that is not reached is not measured; why is
// said.
func (f *meshFlags) reachMachines(ctx context.Context, m *experiment.Meshing, progress *progress) (end func() error, names []string, lost []error, err error) {
	way, them, err := f.open(ctx, progress)
	if err != nil {
		return nil, nil, nil, err
	}
	nodes, err := site.ReachNodes(ctx, way, version)
	if err != nil {
		return nil, nil, nil, err
	}
	m.Site, m.Ends, m.Plan.Site, m.Facts = nodes, nodes.Ends, way.Site, nodes.Facts
	for n, node := range them {
		host := placeOf(n)
		boot, there := nodes.Boot(host)
		if !there {
			boot = "not reached: " + node.Name
		}
		names = append(names, node.Name)
		m.Nodes = append(m.Nodes, experiment.MeshNode{MeshNode: node, At: nodes.Place(host), Boot: boot})
	}
	return nodes.Close, names, nodes.Unreached, nil
}

// open opens the way to the nodes, and gives them in the order of their places.
func (f *meshFlags) open(ctx context.Context, progress *progress) (way site.Way, nodes []result.MeshNode, err error) {
	if f.site == result.SiteKubernetes {
		progress.say("starting a pod on each node")
		if way, nodes, err = f.cluster.Open(ctx); err != nil {
			return way, nil, err
		}
		for _, fact := range way.Facts {
			progress.say(result.Plain(fact))
		}
		return way, nodes, nil
	}
	opener, names, err := f.opener()
	if err != nil {
		return way, nil, err
	}
	progress.say("reaching " + strings.Join(names, ", "))
	for _, name := range names {
		nodes = append(nodes, result.MeshNode{Name: name})
	}
	way, err = opener.Open(ctx)
	return way, nodes, err
}

// ofMeshSites are the words of --site.
var ofMeshSites = []string{result.SiteLab, result.SiteEndpoint, result.SiteSSH, result.SiteKubernetes}

// choose finds out where the nodes are.
func (f *meshFlags) choose(flags *pflag.FlagSet) error {
	if f.site != "" && !slices.Contains(ofMeshSites, f.site) {
		return &exitError{exitWrong, experiment.Unknown("site of a mesh", f.site, ofMeshSites)}
	}
	var named []string // the sites of which something is given
	flags.Visit(func(flag *pflag.Flag) {
		switch at := byFlag()[flag.Name].at; {
		case slices.Contains([]string{"on-hosts", "dry-run", "every"}, flag.Name):
			named = result.AddOnce(named, result.SiteKubernetes)
		case at != 0 && at&(at-1) == 0: // it has a meaning at one site alone
			named = result.AddOnce(named, siteNameOf(at))
		}
	})
	if len(named) == 0 && f.site == result.SiteKubernetes {
		return nil
	}
	if len(named) != 1 || f.site != "" && f.site != named[0] {
		return wrong("name the nodes, in one way: --machines a,b,c, --endpoint NAME='COMMAND' for each, --lab NAME, or --site kubernetes with what chooses among its nodes")
	}
	f.site = named[0]
	if f.program != "" && f.site != result.SiteSSH && f.site != result.SiteEndpoint {
		return wrong("--far-path and --site %s: it is for nodes that ssh or a command reaches: leave it out", f.site)
	}
	return nil
}

// placeOf is what the n-th node is called at its site.
func placeOf(n int) string { return fmt.Sprintf("h%d", n+1) }

// opener makes the way to the machines that were named.
func (f *meshFlags) opener() (opener site.Opener, names []string, err error) {
	if len(f.machines) > 0 {
		names = slices.Clone(f.machines)
		opener = site.SSH{Machines: f.machines, Program: f.program, Partial: true}
	}
	var places site.Commands
	for n, text := range f.endpoints {
		name, command, has := strings.Cut(text, "=")
		if !has || name == "" {
			return nil, nil, wrong("--endpoint %s: write NAME='COMMAND', as in a='ssh a'", text)
		}
		names = append(names, name)
		places = append(places, site.Far{Name: placeOf(n), Command: strings.TrimSpace(command), Program: f.program})
		opener = places
	}
	for n, name := range names {
		if slices.Contains(names[:n], name) {
			return nil, nil, wrong("%s is there twice: keep one", name)
		}
	}
	return opener, names, nil
}

// same reports whether the nodes of a mesh that goes on are those that it began with.
func same(began *result.Result, nodes []experiment.MeshNode) error {
	then := result.Names(began.Mesh.Nodes, func(n result.MeshNode) string { return n.Name })
	now := result.Names(nodes, func(n experiment.MeshNode) string { return n.Name })
	if slices.Equal(then, now) {
		return nil
	}
	return &exitError{exitWrong, errors.New("the nodes are now " + strings.Join(now, ", ") + ", and the result is of " + strings.Join(then, ", ") + ": name and reach the same ones, or begin anew without --resume")}
}
