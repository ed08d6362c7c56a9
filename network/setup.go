package network

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tare/engine"
	"tare/lab"
)

// Engine is the daemons that several networks share: they stand on one set of
// hosts, on each of which one daemon runs.
type Engine struct {
	Name  string // "docker"; "": none
	Start func(cluster *lab.Cluster) error
}

// Lay starts the engine's daemons on hosts that are its own, and lays the rules
// that all its networks have there.
func (e Engine) SetUp(cluster *lab.Cluster, setup *Setup) error {
	if err := e.Start(cluster); err != nil {
		return fmt.Errorf("start engine %s: %w", e.Name, err)
	}
	return eachHost(cluster, func(h *lab.Host) error { return addRules(h, setup) })
}

// Runtime is the engine that runs a network's containers; without a name they
// are namespaces, which no engine runs.
type Runtime struct {
	Name string // "docker"
	// Cycle creates and starts a container without a network, under a name that is
	// free, on a host where the engine runs; remove deletes it again. What is half
	// made is gone when it fails.
	Cycle func(h *lab.Host, name string) (remove func() error, err error)
}

// Param is a parameter that a network has.
type Param struct {
	Name   string // as a file and a cell name it: "ip_masq"
	Doc    string
	Values []string // the default first; nil: any text
	List   bool     // a list of values weighs the network with each
}

// Default is the value that need not be said.
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

// common are the parameters of every network but the baseline. Those without
// values are numbers.
func common() []Param {
	return []Param{
		{Name: Hosts, Doc: "hosts of each network (default 2)", List: true},
		{Name: Containers, Doc: "containers of each host (default 2)", List: true},
		{Name: Rules, Doc: "rules on the path of routed packets that match nothing (default 0)", List: true},
		{Name: RulesBy, Doc: "what lays those rules", Values: []string{byNftables, byIptables}, List: true},
	}
}

// bounds are the least and the largest value of a number.
func bounds(name string) (least, most int) {
	switch name {
	case Hosts:
		return 1, lab.MaxHosts
	case Containers:
		return 0, lab.MaxContainers
	}
	return 0, 100_000
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

// Setup is one network being laid: what is asked of it, and what came of it.
type Setup struct {
	Containers int               // per host
	Params     map[string]string // by name; the network's defaults included

	Fidelity string            // as it turned out
	Parts    map[string]string // real part -> version
	Notes    []string          // what a reader of the numbers should know
	Unserved []string          // paths that it does not have with these parameters

	attach func(c *lab.Container) error // one more container; nil: the host's own network is all there is
}

// Note adds a note for every number of the network.
func (setup *Setup) Note(format string, args ...any) {
	setup.Notes = append(setup.Notes, fmt.Sprintf(format, args...))
}

// part gives the real parts, to add to.
func (setup *Setup) part() map[string]string {
	if setup.Parts == nil {
		setup.Parts = map[string]string{}
	}
	return setup.Parts
}

// standIn says that another data path had to be used, and why.
func (setup *Setup) standIn(why string) {
	setup.Fidelity = StandIn
	if !slices.Contains(setup.Notes, why) {
		setup.Notes = append(setup.Notes, why)
	}
}

// param finds a parameter of the network.
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

// Takes tells whether the network has the parameter.
func (n Network) Takes(name string) bool { _, has := n.param(name); return has }

// CheckParam refuses a parameter that the network does not have, or a value
// that the parameter does not take.
func (n Network) CheckParam(name, value string) error {
	p, has := n.param(name)
	isNumber := p.Values == nil && slices.ContainsFunc(common(), func(p Param) bool { return p.Name == name })
	switch {
	case !has:
		return fmt.Errorf("network %s has no %s", n.Name, name)
	case isNumber:
		least, most := bounds(name)
		if count, err := strconv.Atoi(value); err != nil || count < least || count > most {
			return fmt.Errorf("%s of %s is %q: give a number from %d to %d", name, n.Name, value, least, most)
		}
	case p.Values != nil && !slices.Contains(p.Values, value):
		return fmt.Errorf("%s of %s is %q: give one of %s", name, n.Name, value, strings.Join(p.Values, ", "))
	}
	return nil
}

// complete adds the defaults of the network's own parameters to those set.
func (n Network) complete(set map[string]string) map[string]string {
	params := map[string]string{}
	for _, p := range n.Params {
		params[p.Name] = p.Default()
	}
	maps.Copy(params, set)
	return params
}

// Build lays the network over the underlay's hosts. Bridged packets pass
// netfilter or not as the network declares, whatever the machine does, and
// every route has the lab's congestion control, whoever laid it. What the
// network lacks is the caller's to ask before it makes hosts.
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
		if n.Engine.Name == "" { // else they were laid with the engine
			if err := addRules(h, setup); err != nil {
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

// Probe tells whether the network can be laid, on hosts that are thrown away.
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
