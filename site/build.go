package site

import (
	"errors"
	"fmt"

	"tare/lab"
	"tare/network"
)

// build lays every underlay of the spec. One that fails is removed and says
// so in the topology; the others stand.
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
	k.topology = Topology{Spec: *spec, Privilege: "user namespace", Underlays: []Built{}, Namespaces: []string{}}
	if lab.IsRoot() {
		k.topology.Privilege = "root"
	}
	for _, u := range spec.Underlays {
		built := Built{UnderlaySpec: u, CPUs: map[string]string{}, Warnings: []string{}, Paths: map[string]network.Ends{}}
		laid, err := layUnderlay(k.lab, u)
		if err != nil {
			built.Error = err.Error()
		} else {
			k.describe(&built, laid)
		}
		k.topology.Underlays = append(k.topology.Underlays, built)
	}
	return k.topology, nil
}

// layUnderlay makes the hosts and lays the network on them.
func layUnderlay(l *lab.Lab, spec UnderlaySpec) (*lab.Underlay, error) {
	n, known := network.Find(spec.Network)
	if !known {
		return nil, fmt.Errorf("lay network %q: unknown", spec.Network)
	}
	u, err := l.NewUnderlay(lab.UnderlaySpec{Name: spec.Name, Hosts: spec.Hosts, MTU: spec.MTU, NIC: lab.NIC(spec.NIC), Link: spec.Link})
	if err != nil {
		return nil, err
	}
	if err := n.Build(u, spec.Containers); err != nil {
		return nil, errors.Join(fmt.Errorf("lay network %s: %w", n.Name, err), l.Remove(u))
	}
	return u, nil
}

// describe fills in what the underlay turned out to be.
func (k *keeper) describe(built *Built, u *lab.Underlay) {
	built.RPS = u.RPS
	built.Warnings = append(built.Warnings, u.Warnings...)
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
		// A path that needs more hosts or containers than there are is not served.
		if ends, err := n.EndsOf(u, path); err == nil {
			built.Paths[path] = ends
		}
	}
}
