// Package lab builds hosts and containers out of namespaces on one machine.
//
// Everything lives in new namespaces that file descriptors hold; nothing gets a
// name in the machine's own. The process that builds a lab must be the init of a
// new PID namespace (see Enter): what it starts in the lab dies with it, and the
// kernel removes namespaces, links, rules and mounts when the last descriptor
// closes. Linux 4.15 or newer.
package lab

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
)

// Undo is a stack of clean-up steps. Code that creates something pushes its
// removal; Close removes in reverse order. Push may be called concurrently, by
// hosts whose daemons start at the same time.
type Undo struct {
	mu    sync.Mutex
	steps []func() error
}

// Push adds a step that Close will run before all those pushed earlier.
func (u *Undo) Push(step func() error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.steps = append(u.steps, step)
}

// Close runs every step, the last pushed first, and joins their errors. A
// second Close does nothing.
func (u *Undo) Close() error {
	u.mu.Lock()
	steps := u.steps
	u.steps = nil
	u.mu.Unlock()
	var errs []error
	for _, step := range slices.Backward(steps) {
		errs = append(errs, step())
	}
	return errors.Join(errs...)
}

// Config is what all hosts and containers of a lab have in common.
type Config struct {
	CC    string // TCP congestion control, set by the route attribute congctl
	Pin   string // which CPUs the hosts get
	Steer bool   // arriving packets are steered to the host's own CPUs
	CPUs  Places // host -> CPUs, where the plan chooses them
	All   CPUSet // the CPUs that the lab may use
	// Cgroup is how the names of the lab's control groups begin, as "/tare-ID": see
	// cgroupOf. Empty: the lab has none.
	Cgroup string
	// Machine opens the machine's own network namespace, from which a lab
	// takes what the user names: see TakeVF. nil: it can't be reached.
	Machine func() (*os.File, error)
}

// Lab is a set of clusters with their hosts and containers, and what runs in
// them.
type Lab struct {
	Undo
	Config
	Processes *Processes

	hasCgroups, joinsCgroups bool // see UseCgroups

	mu       sync.Mutex // of what follows: clusters are built concurrently
	clusters []*Cluster
}

// New makes an empty lab. The caller is the init of the lab's PID namespace.
func New(config Config) *Lab {
	l := &Lab{Config: config, Processes: newProcesses()}
	l.Push(l.Processes.close)
	return l
}

// Find gives the namespace with an address such as "vxlan.h1/c1".
func (l *Lab) Find(address string) (*Namespace, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, cluster := range l.clusters {
		for _, h := range cluster.Hosts {
			for _, ns := range h.namespaces() {
				if ns.Name == address {
					return ns, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("find %q: no such host or container: tare lab show lists them", address)
}

// namespaces are the host's own and those of its containers.
func (h *Host) namespaces() []*Namespace {
	all := []*Namespace{h.Namespace}
	for _, c := range h.Containers() {
		all = append(all, c.Namespace)
	}
	return all
}

// add adds a cluster to the lab.
func (l *Lab) add(cluster *Cluster) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Push(cluster.Close)
	l.clusters = append(l.clusters, cluster)
}

// Remove removes one cluster; the others stay.
func (l *Lab) Remove(cluster *Cluster) error {
	l.mu.Lock()
	l.clusters = slices.DeleteFunc(l.clusters, func(other *Cluster) bool { return other == cluster })
	l.mu.Unlock()
	return cluster.Close()
}
