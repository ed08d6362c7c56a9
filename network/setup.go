package network

import (
	"errors"
	"fmt"
	"maps"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
	"tare/result"
)

// SetUpEngine starts the daemons of the network's engine on a cluster, and adds the rules and the
// passenger that all its networks have there.
func (n Network) SetUpEngine(cluster *lab.Cluster, setup *Setup) error {
	if err := n.StartEngine(cluster, setup); err != nil {
		return fmt.Errorf("start engine %s: %w", n.Engine, err)
	}
	return EachHost(cluster, func(h *lab.Host) error { return addToHost(h, setup) })
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
	Attach     func(c *lab.Container) error // one more container; nil: there is only the host's own network
}

// Note adds a note for every number of the network.
func (setup *Setup) Note(format string, args ...any) {
	setup.Notes = append(setup.Notes, fmt.Sprintf(format, args...))
}

// Part returns Parts, to add to.
func (setup *Setup) Part() map[string]string {
	if setup.Parts == nil {
		setup.Parts = map[string]string{}
	}
	return setup.Parts
}

// StandIn records that another data path is used, and why.
func (setup *Setup) StandIn(why string) {
	setup.Fidelity = catalog.StandIn
	setup.Notes = result.AddOnce(setup.Notes, why)
}

// Build sets the network up on a cluster's hosts. Bridged packets pass netfilter
// if the network declares so, whatever the machine's setting is, and every route
// has the lab's congestion control, whatever added it. The caller must have called
// Lacks before it made the hosts.
func (n Network) Build(cluster *lab.Cluster, setup *Setup) error {
	setup.Fidelity, setup.Params = n.Fidelity, n.Complete(setup.Params)
	if err := n.SetUp(cluster, setup); err != nil {
		return err
	}
	parts, err := engine.Versions(cluster.Hosts[0], n.Needs)
	if err != nil {
		return err
	}
	maps.Copy(parts, setup.Parts) // that of the engine which was chosen
	setup.Parts = parts
	return EachHost(cluster, func(h *lab.Host) error {
		if err := errors.Join(n.settleBridge(h, BridgeNetfilter), n.settleBridge(h, bridgeNetfilter6)); err != nil {
			return err
		}
		if n.Engine == "" { // else they were added with the engine
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
