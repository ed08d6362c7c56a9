// Package site is where the two ends live: a way to start an agent at each,
// place it and clean up. A lab is built here; Endpoints reaches places that others
// built.
//
// A lab is built and held by its keeper, a process that is the init of the
// lab's PID namespace. Other processes send requests to the keeper over a unix
// socket, since a Go program can't join a user namespace.
package site

import (
	"slices"

	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/result"
)

// Spec is a lab as data.
type Spec struct {
	Name     string            `json:"name"`
	Cgroup   string            `json:"cgroup,omitempty"` // how the names of the lab's control groups begin
	CC       string            `json:"cc"`
	Pin      string            `json:"pin"`
	CPUs     map[string]string `json:"cpus,omitempty"`
	Site     string            `json:"site,omitempty"` // result.SiteEndpoint; empty: a lab
	RPS      bool              `json:"rps"`            // steer arriving packets to the host's own CPUs
	Clusters []ClusterSpec     `json:"clusters"`
}

// ClusterSpec is one cluster with the network on it.
type ClusterSpec struct {
	Name    string `json:"name"`
	Network string `json:"network"`
	// Axes are what its hosts and their links are like: a value of each of result.Axes that is
	// set for a cluster. What has none is as it comes.
	Axes       result.Params `json:"axes"`
	Hosts      int           `json:"hosts"`
	Containers int           `json:"containers"`       // per host
	Switch     bool          `json:"switch,omitempty"` // two hosts are joined by a switch too, as more than two always are
	// Params are the network's own, by name.
	Params   map[string]string `json:"params,omitempty"`
	Baseline bool              `json:"baseline,omitempty"` // one of the two that others are compared with
	Live     bool              `json:"live,omitempty"`     // its veths take the frames of a program (udp_pps of mode xdp)
}

// Topology is a lab as built.
type Topology struct {
	Spec       Spec           `json:"spec"`
	Privilege  string         `json:"privilege"` // "root" or "user namespace"
	PID        int            `json:"pid"`       // of the keeper, as its namespace's parent sees it; 0: unknown
	Clusters   []Built        `json:"clusters"`
	Namespaces []string       `json:"namespaces"`
	Places     []result.Place `json:"places,omitempty"` // of a site that is no lab
	Up         float64        `json:"up"`               // s that it took to build
	Memory     uint64         `json:"memory_bytes"`     // that its processes held once it was built; 0: unknown
}

// Built is one cluster as built, or why it is not.
type Built struct {
	ClusterSpec
	Error    string                  `json:"error,omitempty"`
	Missing  string                  `json:"missing,omitempty"` // what this machine lacks, where that is why
	Get      string                  `json:"get,omitempty"`     // how to get it
	Seconds  float64                 `json:"seconds"`           // that setting it up took, with its engine's start where it is the first network of it
	Engine   string                  `json:"engine,omitempty"`  // the cluster whose hosts it shares with others
	Fidelity string                  `json:"fidelity"`
	Parts    map[string]string       `json:"parts,omitempty"` // real part -> version
	Notes    []string                `json:"notes,omitempty"`
	Unserved []string                `json:"unserved,omitempty"` // paths that it lacks with these parameters
	Mute     string                  `json:"mute,omitempty"`     // why a server that speaks first is not reached by its published ports; empty: it is
	RPS      bool                    `json:"rps"`
	CPUs     map[string]string       `json:"cpus"` // host -> CPU list; empty: not bound
	Warnings []string                `json:"warnings"`
	Paths    map[string]network.Ends `json:"paths"`
	Port     uint16                  `json:"port,omitempty"`    // of its servers; 0: network.Port
	Outside  *network.Ends           `json:"outside,omitempty"` // a container and the other host, where the network promises that it reaches it
	Nearby   *network.Ends           `json:"nearby,omitempty"`  // a container and the port that its own host publishes for another, where the network promises that it reaches it
	// Neighbour has the ends of its noisy neighbour, where it has one.
	Neighbour *network.Ends `json:"neighbour,omitempty"`
}

// config reads the spec's CPU lists.
func (s Spec) config() (lab.Config, error) {
	config := lab.Config{CC: s.CC, Pin: string(s.Pin), Steer: s.RPS, CPUs: lab.Places{}}
	if s.Cgroup != "" {
		config.Cgroup = "/" + s.Cgroup
	}
	for name, list := range s.CPUs {
		set, err := lab.ParseCPUSet(list)
		if err != nil {
			return config, err
		}
		config.CPUs[name] = set
	}
	usable, err := lab.UsableCPUs()
	config.All = usable
	return config, err
}

// needsEngines reports whether a network of the lab is made of real parts.
func (s Spec) needsEngines() bool {
	return slices.ContainsFunc(s.Clusters, func(spec ClusterSpec) bool {
		n, known := kinds.Find(spec.Network)
		return known && len(n.Needs) > 0
	})
}
