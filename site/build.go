package site

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/result"
	"tare/wire"
)

// build builds every cluster of the spec and sets up its network, concurrently where
// real parts make it slow. One that fails is removed and has its error in the
// topology; the others stay.
func (k *keeper) build(spec *Spec) (Topology, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if spec == nil {
		return Topology{}, errors.New("build: no spec")
	}
	if k.lab != nil {
		return Topology{}, errors.New("build: the lab is built already")
	}
	config, err := spec.config()
	if err != nil {
		return Topology{}, err
	}
	config.Machine = k.machine
	begun := time.Now()
	k.lab = lab.New(config)
	k.topology = Topology{Spec: *spec, Privilege: "user namespace", Clusters: make([]Built, len(spec.Clusters)), Namespaces: []string{}}
	if lab.IsRoot() {
		k.topology.Privilege = "root"
	}
	if k.sessions, err = k.useCgroups(); err != nil {
		return k.topology, err
	}
	networks := make([]running, len(spec.Clusters))
	var wait sync.WaitGroup
	for _, together := range byEngine(spec.Clusters, kinds.Find) {
		wait.Go(func() { k.setUpTogether(spec.Clusters, together, networks) })
	}
	wait.Wait()
	k.running = map[string]running{}
	for i, s := range networks {
		if s.cluster != nil {
			k.describe(&k.topology.Clusters[i], s.cluster)
			k.running[spec.Clusters[i].Name] = s
		}
	}
	k.topology.Up = time.Since(begun).Seconds()
	k.topology.Memory, err = lab.Memory()
	return k.topology, err
}

// byEngine groups the indices of clusters: those of one engine that want the same
// hosts share one set of hosts; all that need no real part are built one after
// another. Parameters belong to the hosts, so networks that differ in them share none.
func byEngine(specs []ClusterSpec, find func(name string) (network.Network, bool)) [][]int {
	type hosts struct {
		engine, name, axes string
		params             result.Settings
		hosts              int
	}
	var groups [][]int
	at := map[hosts]int{}
	for i, s := range specs {
		n, _ := find(s.Network)
		key := hosts{engine: n.Engine}
		switch {
		case n.Engine != "":
			key.axes, key.hosts, key.params = s.Axes.Key(), s.Hosts, result.MakeSettings(s.Params)
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

// setUpTogether builds clusters one after another, on the hosts of their engine where
// they have one. An engine that no network uses is removed.
func (k *keeper) setUpTogether(specs []ClusterSpec, indices []int, networks []running) {
	e := &sharedHosts{spec: specs[indices[0]]}
	for _, i := range indices {
		begun := time.Now()
		setup := &network.Setup{Containers: specs[i].Containers, Params: specs[i].Params}
		cluster, err := e.setUpCluster(k.lab, specs[i], setup)
		built := Built{
			ClusterSpec: specs[i], Fidelity: setup.Fidelity, Parts: setup.Parts, Notes: setup.Notes, Unserved: setup.Unserved, Mute: setup.Mute,
			Seconds: time.Since(begun).Seconds(),
			CPUs:    map[string]string{}, Warnings: []string{}, Paths: map[string]network.Ends{},
		}
		if err != nil {
			built.Error = err.Error()
			if missing := new(engine.MissingError); errors.As(err, &missing) {
				built.Missing, built.Get = missing.What, missing.Get
			}
		} else if e.hosts != nil {
			e.used, built.Engine = true, e.hosts.Spec.Name
		}
		n, _ := kinds.Find(specs[i].Network)
		networks[i], k.topology.Clusters[i] = running{n, cluster, setup}, built
	}
	if err := e.end(k.lab); err != nil {
		last := &k.topology.Clusters[indices[len(indices)-1]]
		last.Error = errors.Join(errors.New(last.Error), err).Error()
	}
}

// sharedHosts are a set of hosts that networks of one engine share, with what was started there.
type sharedHosts struct {
	spec  ClusterSpec  // of the first network
	hosts *lab.Cluster // nil: not built
	setup *network.Setup
	err   error // why not
	tried bool
	used  bool // by a network
}

// setUp makes the hosts of an engine and starts its daemons, once.
func (e *sharedHosts) setUp(l *lab.Lab, of network.Network) (*lab.Cluster, error) {
	if e.tried {
		return e.hosts, e.err
	}
	e.tried = true
	// The name distinguishes it from the same engine on other hosts.
	cluster, err := l.NewCluster(e.spec.hosts("engine-" + e.spec.Name))
	if err != nil {
		e.err = err
		return nil, err
	}
	setup := &network.Setup{Params: e.spec.Params}
	if err := of.SetUpEngine(cluster, setup); err != nil {
		e.err = errors.Join(err, l.Remove(cluster))
		return nil, e.err
	}
	e.hosts, e.setup = cluster, setup
	return cluster, nil
}

// end removes an engine that no network uses.
func (e *sharedHosts) end(l *lab.Lab) error {
	if e.hosts == nil || e.used {
		return nil
	}
	return l.Remove(e.hosts)
}

// hosts is what the lab makes of the spec, under a name.
func (s ClusterSpec) hosts(name string) lab.ClusterSpec {
	a := s.Axes
	link := lab.Link{
		BitsPerSecond: a.Number("link"), Delay: result.Seconds(a.Number("delay")).Duration(), Loss: a.Number("loss"), Reorder: a.Number("reorder"),
	}
	return lab.ClusterSpec{
		Name: name, Hosts: s.Hosts, CPUs: a.Count("cpus"), MTU: a.Count("mtu"), IPv6: a.Count("ip") == int(wire.IPv6),
		NIC: lab.NIC(a.Text("nic")), Link: link, Switch: s.Switch,
	}
}

// setUpCluster makes the hosts, or takes those of the network's engine, and sets up
// the network on them. It makes no hosts for a network that lacks a part.
func (e *sharedHosts) setUpCluster(l *lab.Lab, spec ClusterSpec, setup *network.Setup) (*lab.Cluster, error) {
	n, known := kinds.Find(spec.Network)
	if !known {
		return nil, fmt.Errorf("set up network %q: unknown", spec.Network)
	}
	return e.setUpNetwork(l, n, spec, setup)
}

func (e *sharedHosts) setUpNetwork(l *lab.Lab, n network.Network, spec ClusterSpec, setup *network.Setup) (*lab.Cluster, error) {
	err := n.Lacks()
	if err != nil {
		return nil, err
	}
	var cluster *lab.Cluster
	if n.Engine == "" {
		cluster, err = l.NewCluster(spec.hosts(spec.Name))
	} else if cluster, err = e.setUp(l, n); err == nil {
		setup.Inherit(e.setup)
		cluster, err = l.Share(cluster, spec.Name)
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(n.Build(cluster, setup), setLargest(cluster, spec.Axes.Count("gso_max"), setup), takeFrames(cluster, spec.Live)); err != nil {
		return nil, errors.Join(fmt.Errorf("set up network %s: %w", n.Name, err), l.Remove(cluster))
	}
	return cluster, nil
}

// setLargest asks the devices of a cluster for larger packets of segments, if that was asked
// for, and notes those that refuse.
func setLargest(cluster *lab.Cluster, bytes int, setup *network.Setup) error {
	if bytes == 0 {
		return nil
	}
	refused, err := cluster.SetLargest(bytes)
	if len(refused) > 0 {
		setup.Note("gso-max: %s: packets larger than %d bytes do not pass there", strings.Join(refused, ", "), lab.LegacyLargest)
	}
	return err
}

// takeFrames lets the devices of a cluster take the frames of a program, if that was asked for.
func takeFrames(cluster *lab.Cluster, live bool) error {
	if !live {
		return nil
	}
	return cluster.TakeFrames()
}

// describe fills in what the cluster turned out to be.
func (k *keeper) describe(built *Built, cluster *lab.Cluster) {
	built.RPS = cluster.RPS
	built.Warnings = append(built.Warnings, cluster.Warnings...)
	built.Warnings = append(built.Warnings, built.Notes...)
	for _, h := range cluster.Hosts {
		built.CPUs[h.Short] = h.CPUs.String()
		k.topology.Namespaces = append(k.topology.Namespaces, h.Name)
		for _, c := range h.Containers() {
			k.topology.Namespaces = append(k.topology.Namespaces, c.Name)
		}
	}
	n, known := kinds.Find(built.Network)
	if !known {
		return
	}
	if k.sessions != "" && n.Runtime != "" {
		built.Warnings = append(built.Warnings, k.sessions)
	}
	paths := n.Paths
	if n.Name == catalog.Baseline {
		paths = catalog.Paths() // every path is compared with it
	}
	for _, path := range paths {
		if slices.Contains(built.Unserved, path) {
			continue
		}
		// A path that needs more hosts or containers than there are is left out.
		if ends, err := n.EndsOf(cluster, path); err == nil {
			built.Paths[path] = ends
		}
	}
	if built.Params[catalog.Neighbour] != "" {
		if ends, ok := n.NeighbourEnds(cluster); ok {
			built.Neighbour = &ends
		}
	}
	_, published := built.Paths[catalog.ContainerToPublishedPort]
	if own := cluster.Hosts[0].Containers(); published && n.Facts.Nearby && len(own) > 1 && !cluster.Spec.IPv6 && built.Params[catalog.CNIFile] == "" {
		h := cluster.Hosts[0]
		built.Nearby = &network.Ends{Client: h.Short + "/" + own[1].Short, Server: h.Short + "/" + own[0].Short, Bind: own[0].Addr, Dial: n.PublishedBy(h)}
	}
	if h := cluster.Hosts[0]; n.Outside && len(cluster.Hosts) > 1 && len(h.Containers()) > 0 {
		other := cluster.Hosts[1]
		built.Outside = &network.Ends{Client: h.Short + "/" + h.Containers()[0].Short, Server: other.Short, Bind: other.At(), Dial: other.At()}
	}
}

// probe tries to set up every network, and removes it. It does so in a separate lab,
// whose end kills every process of the keeper, so the keeper must have no other lab.
func (k *keeper) probe() (probed []Availability, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lab != nil {
		return nil, errors.New("probe: the lab is built already")
	}
	config, err := Spec{Pin: catalog.PinNone}.config()
	if err != nil {
		return nil, err
	}
	scratch := lab.New(config)
	defer func() { err = errors.Join(err, scratch.Close()) }()
	for _, n := range kinds.All() {
		a := Availability{Name: n.Name, Fidelity: n.Fidelity}
		spec := ClusterSpec{Name: n.Name, Network: n.Name, Axes: result.Params{"nic": string(lab.NICFull), "mtu": 1500.0}, Hosts: 2, Containers: 1}
		setup := &network.Setup{Containers: spec.Containers}
		cluster, err := scratch.NewCluster(spec.hosts(n.Name))
		if err == nil {
			err = n.Probe(cluster, setup)
			err = errors.Join(err, scratch.Remove(cluster))
		}
		if err != nil {
			a.Error, a.Missing, a.Get = err.Error(), n.Missing, n.Get
			if missing := new(engine.MissingError); errors.As(err, &missing) {
				a.Missing, a.Get, a.Error = missing.What, missing.Get, missing.Err.Error()
			}
		}
		if setup.Fidelity != "" {
			a.Fidelity = setup.Fidelity
		}
		a.Mute = setup.Mute
		probed = append(probed, a)
	}
	return probed, nil
}
