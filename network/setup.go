package network

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tare/engine"
	"tare/lab"
	"tare/result"
)

// Engine is the daemons that several networks share: those networks share one set
// of hosts, with one daemon on each.
type Engine struct {
	Name  string // "docker"; "": none
	Start func(cluster *lab.Cluster) error
}

// SetUp starts the engine's daemons on a cluster, and adds the rules and the passenger that
// all its networks have there.
func (e Engine) SetUp(cluster *lab.Cluster, setup *Setup) error {
	if err := e.Start(cluster); err != nil {
		return fmt.Errorf("start engine %s: %w", e.Name, err)
	}
	return eachHost(cluster, func(h *lab.Host) error { return addToHost(h, setup) })
}

// addToHost adds what the parameters of every network ask for on each host.
func addToHost(h *lab.Host, setup *Setup) error {
	if err := addRules(h, setup); err != nil {
		return err
	}
	return addPassenger(h, setup)
}

// Inherit takes over what a network has of its engine's hosts: the parts, and the passenger.
func (setup *Setup) Inherit(engine *Setup) {
	setup.Parts, setup.passengers = maps.Clone(engine.Parts), engine.passengers
}

// Runtime is the engine that runs a network's containers. Without a name they are
// mere namespaces.
type Runtime struct {
	Name string // "docker"
	// Cycle creates and starts a container without a network, under a name that is
	// free, on a host where the engine runs. remove deletes it. If Cycle fails, no
	// container is left.
	Cycle func(h *lab.Host, name string) (remove func() error, err error)
}

// Param is a parameter that a network has.
type Param struct {
	Name   string // as in a plan and a cell: "ip_masq"
	Doc    string
	Values []string // the default first; nil: a number up to Most, or any text
	Least  int      // of a number
	Most   int      // of a number; 0: it is none
	List   bool     // a list of values weighs the network with each of them
	Absent bool     // the network is weighed without it too
	Typed  bool     // it names what is executed, or what is taken from the machine: a plan's file can't set it alone
}

// Default is the value where none is given.
func (p Param) Default() string {
	if len(p.Values) > 0 {
		return p.Values[0]
	}
	return ""
}

// The parameters of every network but the baseline.
const (
	Hosts      = "hosts"
	Containers = "containers"
	Rules      = "rules"
	RulesBy    = "rules_by"
)

// mostRules bounds the rules that match nothing.
const mostRules = 100_000

// common are the parameters of every network but the baseline.
func common() []Param {
	return []Param{
		{Name: Hosts, Doc: "hosts of each network (default 2)", Least: 1, Most: lab.MaxHosts, List: true},
		{Name: Containers, Doc: "containers of each host (default 2)", Most: lab.MaxContainers, List: true},
		{Name: Rules, Doc: "rules on the path of routed packets that match nothing (default 0)", Most: mostRules, List: true},
		{Name: With, Doc: "command that runs on each host of the networks, which are weighed with it and without, as an observer or a capture", Absent: true, Typed: true},
		{Name: Neighbour, Doc: "workload that other containers run on the same hosts, with its rate if it has one, as in tcp_stream@100mbit: the networks are weighed beside it and without it", Absent: true},
		{Name: RulesBy, Doc: "what adds those rules", Values: []string{byNftables, byIptables}, List: true},
	}
}

// Params lists the parameters of all networks, each once.
func Params() []Param {
	all := common()
	for _, n := range All() {
		for _, p := range n.Params {
			if !slices.ContainsFunc(all, func(had Param) bool { return had.Name == p.Name }) {
				all = append(all, p)
			}
		}
	}
	return all
}

// Setup is one network as it is set up: the request, and the outcome.
type Setup struct {
	Containers int               // per host
	Params     map[string]string // by name; the network's defaults included

	Fidelity string            // the actual one
	Parts    map[string]string // real part -> version
	Notes    []string          // what a reader of the numbers should know
	Unserved []string          // paths that it lacks with these parameters
	Mute     string            // why a server that speaks first is not reached by a published port, and what to do; empty: it is

	passengers []passenger
	attach     func(c *lab.Container) error // one more container; nil: there is only the host's own network
}

// Note adds a note for every number of the network.
func (setup *Setup) Note(format string, args ...any) {
	setup.Notes = append(setup.Notes, fmt.Sprintf(format, args...))
}

// part returns Parts, to add to.
func (setup *Setup) part() map[string]string {
	if setup.Parts == nil {
		setup.Parts = map[string]string{}
	}
	return setup.Parts
}

// standIn records that another data path is used, and why.
func (setup *Setup) standIn(why string) {
	setup.Fidelity = StandIn
	setup.Notes = result.AddOnce(setup.Notes, why)
}

// param returns a parameter of the network.
func (n Network) param(name string) (Param, bool) {
	all := n.Params
	if n.Name != Baseline {
		all = append(common(), all...)
	}
	at := slices.IndexFunc(all, func(p Param) bool { return p.Name == name })
	if at < 0 {
		return Param{}, false
	}
	return all[at], true
}

// Takes reports whether the network has the parameter.
func (n Network) Takes(name string) bool { _, has := n.param(name); return has }

// CheckParam fails if the network does not have the parameter, or the parameter
// does not accept the value.
func (n Network) CheckParam(name, value string) error {
	p, has := n.param(name)
	switch {
	case !has:
		return fmt.Errorf("network %s has no %s", n.Name, name)
	case name == Neighbour && !n.takesNeighbour():
		return fmt.Errorf("%s of %s: its containers reach no host: weigh another network beside one", name, n.Name)
	case p.Most > 0:
		if count, err := strconv.Atoi(value); err != nil || count < p.Least || count > p.Most {
			return fmt.Errorf("%s of %s is %q: give a number from %d to %d", name, n.Name, value, p.Least, p.Most)
		}
	case p.Values != nil && !slices.Contains(p.Values, value):
		return fmt.Errorf("%s of %s is %q: give one of %s", name, n.Name, value, strings.Join(p.Values, ", "))
	}
	return nil
}

// complete adds the defaults of the network's parameters to the values that are set.
func (n Network) complete(set map[string]string) map[string]string {
	params := map[string]string{}
	for _, p := range n.Params {
		params[p.Name] = p.Default()
	}
	maps.Copy(params, set)
	return params
}

// Build sets the network up on a cluster's hosts. Bridged packets pass netfilter
// if the network declares so, whatever the machine's setting is, and every route
// has the lab's congestion control, whatever added it. The caller must have called
// Lacks before it made the hosts.
func (n Network) Build(cluster *lab.Cluster, setup *Setup) error {
	setup.Fidelity, setup.Params = n.Fidelity, n.complete(setup.Params)
	if err := n.SetUp(cluster, setup); err != nil {
		return err
	}
	parts, err := engine.Versions(cluster.Hosts[0], n.Needs)
	if err != nil {
		return err
	}
	maps.Copy(setup.part(), parts)
	return eachHost(cluster, func(h *lab.Host) error {
		if err := n.settleNetfilter(h); err != nil {
			return err
		}
		if n.Engine.Name == "" { // else they were added with the engine
			if err := addToHost(h, setup); err != nil {
				return err
			}
		}
		if len(n.Needs) == 0 {
			return nil
		}
		for _, c := range h.Containers() {
			if err := c.SettleCC(); err != nil {
				return err
			}
		}
		return h.SettleCC()
	})
}

// Probe reports whether the network can be set up, on hosts that the caller then
// removes.
func (n Network) Probe(cluster *lab.Cluster, setup *Setup) error {
	if err := n.Lacks(); err != nil {
		return err
	}
	setup.Fidelity = n.Fidelity
	if n.Try != nil {
		return n.Try(cluster, setup)
	}
	return n.Build(cluster, setup)
}
