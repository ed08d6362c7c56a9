package site

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"tare/lab"
	"tare/network"
)

// build lays every underlay of the spec, side by side where real parts make it
// slow. One that fails is removed and says so in the topology; the others
// stand.
func (k *keeper) build(spec *Spec) (Topology, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if spec == nil {
		return Topology{}, errors.New("build: no spec")
	}
	if k.lab != nil {
		return Topology{}, errors.New("build: the lab stands already")
	}
	config, err := spec.config()
	if err != nil {
		return Topology{}, err
	}
	k.lab = lab.New(config)
	k.topology = Topology{Spec: *spec, Privilege: "user namespace", Underlays: make([]Built, len(spec.Underlays)), Namespaces: []string{}}
	if lab.IsRoot() {
		k.topology.Privilege = "root"
	}
	laid := make([]*lab.Underlay, len(spec.Underlays))
	var wait sync.WaitGroup
	for _, together := range byEngine(spec.Underlays) {
		wait.Go(func() { k.layTogether(spec.Underlays, together, laid) })
	}
	wait.Wait()
	for i, u := range laid {
		if u != nil {
			k.describe(&k.topology.Underlays[i], u)
		}
	}
	return k.topology, nil
}

// byEngine groups the indices of underlays: those of one engine that want the
// same hosts stand on one set of them; all that need no real part are laid in
// turn.
func byEngine(specs []UnderlaySpec) [][]int {
	type hosts struct {
		engine, name, nic string
		mtu, hosts        int
		link              float64
	}
	var groups [][]int
	at := map[hosts]int{}
	for i, s := range specs {
		n, _ := network.Find(s.Network)
		key := hosts{engine: n.Engine.Name}
		switch {
		case n.Engine.Name != "":
			key.nic, key.mtu, key.link, key.hosts = s.NIC, s.MTU, s.Link, s.Hosts
		case len(n.Needs) > 0:
			key.name = s.Name
		}
		if _, seen := at[key]; !seen {
			at[key] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[key]] = append(groups[at[key]], i)
	}
	return groups
}

// layTogether lays underlays one after another, on the hosts of their engine
// where they have one.
func (k *keeper) layTogether(specs []UnderlaySpec, indices []int, laid []*lab.Underlay) {
	var shared *lab.Underlay
	var engineErr error
	if n, _ := network.Find(specs[indices[0]].Network); n.Engine.Name != "" {
		shared, engineErr = layEngine(k.lab, n.Engine, specs[indices[0]])
	}
	for _, i := range indices {
		l := &network.Laying{Containers: specs[i].Containers, Params: specs[i].Params}
		u, err := (*lab.Underlay)(nil), engineErr
		if err == nil {
			u, err = layUnderlay(k.lab, specs[i], shared, l)
		}
		built := Built{
			UnderlaySpec: specs[i], Fidelity: l.Fidelity, Parts: l.Parts, Notes: l.Notes, Unserved: l.Unserved,
			CPUs: map[string]string{}, Warnings: []string{}, Paths: map[string]network.Ends{},
		}
		if err != nil {
			built.Error = err.Error()
			if missing := new(network.MissingError); errors.As(err, &missing) {
				built.Missing, built.Get = missing.What, missing.Get
			}
		}
		laid[i], k.topology.Underlays[i] = u, built
	}
}

// layEngine makes the hosts of an engine and starts its daemons.
func layEngine(l *lab.Lab, engine network.Engine, first UnderlaySpec) (*lab.Underlay, error) {
	u, err := l.NewUnderlay(first.hosts(engine.Name + "-" + first.NIC))
	if err != nil {
		return nil, err
	}
	if err := engine.Start(u); err != nil {
		return nil, errors.Join(fmt.Errorf("start engine %s: %w", engine.Name, err), l.Remove(u))
	}
	return u, nil
}

// hosts is what the lab makes of the spec, under a name.
func (s UnderlaySpec) hosts(name string) lab.UnderlaySpec {
	return lab.UnderlaySpec{Name: name, Hosts: s.Hosts, MTU: s.MTU, NIC: lab.NIC(s.NIC), Link: s.Link}
}

// layUnderlay makes the hosts, unless an engine's are given, and lays the
// network on them.
func layUnderlay(l *lab.Lab, spec UnderlaySpec, shared *lab.Underlay, laying *network.Laying) (*lab.Underlay, error) {
	n, known := network.Find(spec.Network)
	if !known {
		return nil, fmt.Errorf("lay network %q: unknown", spec.Network)
	}
	var u *lab.Underlay
	var err error
	if shared != nil {
		u, err = l.Share(shared, spec.Name)
	} else {
		u, err = l.NewUnderlay(spec.hosts(spec.Name))
	}
	if err != nil {
		return nil, err
	}
	if err := n.Build(u, laying); err != nil {
		return nil, errors.Join(fmt.Errorf("lay network %s: %w", n.Name, err), l.Remove(u))
	}
	return u, nil
}

// describe fills in what the underlay turned out to be.
func (k *keeper) describe(built *Built, u *lab.Underlay) {
	built.RPS = u.RPS
	built.Warnings = append(built.Warnings, u.Warnings...)
	built.Warnings = append(built.Warnings, built.Notes...)
	for _, h := range u.Hosts {
		built.CPUs[h.Short] = h.CPUs.String()
		k.topology.Namespaces = append(k.topology.Namespaces, h.Name)
		for _, c := range h.Containers {
			k.topology.Namespaces = append(k.topology.Namespaces, c.Name)
		}
	}
	n, known := network.Find(built.Network)
	if !known {
		return
	}
	paths := n.Paths
	if n.Name == network.Baseline {
		paths = network.Paths() // it stands in for every path
	}
	for _, path := range paths {
		if slices.Contains(built.Unserved, path) {
			continue
		}
		// A path that needs more hosts or containers than there are is not served.
		if ends, err := n.EndsOf(u, path); err == nil {
			built.Paths[path] = ends
		}
	}
}

// probe tries to lay every network, and takes it back. It does so in a lab of
// its own, whose end is that of every process, so none may stand beside it.
func (k *keeper) probe() (probed []Availability, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lab != nil {
		return nil, errors.New("probe: the lab stands already")
	}
	config, err := Spec{Pin: string(lab.PinNone)}.config()
	if err != nil {
		return nil, err
	}
	scratch := lab.New(config)
	defer func() { err = errors.Join(err, scratch.Close()) }()
	for _, n := range network.All() {
		a := Availability{Name: n.Name, Fidelity: n.Fidelity}
		spec := UnderlaySpec{Name: n.Name, Network: n.Name, NIC: string(lab.NICFull), MTU: 1500, Hosts: 2, Containers: 1}
		l := &network.Laying{Containers: spec.Containers}
		u, err := scratch.NewUnderlay(spec.hosts(n.Name))
		if err == nil {
			err = n.Probe(u, l)
			err = errors.Join(err, scratch.Remove(u))
		}
		if err != nil {
			a.Error, a.Missing, a.Get = err.Error(), n.Missing, n.Get
			if missing := new(network.MissingError); errors.As(err, &missing) {
				a.Missing, a.Get, a.Error = missing.What, missing.Get, missing.Err.Error()
			}
		}
		if l.Fidelity != "" {
			a.Fidelity = l.Fidelity
		}
		probed = append(probed, a)
	}
	return probed, nil
}
