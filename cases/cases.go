// Package cases holds published measurements of container networks: their
// figures and claims as data, plans that repeat the experiments, and a rule by which
// the results of these plans judge each claim.
//
//   - cases.go: the type of a case, and the list of cases
//   - published.go, published/: the figures and claims as published
//   - spot.go: which measured value corresponds to a published figure
//   - evidence.go: the measured values, and one spot weighed against another
//   - judges.go, tolls.go, softirq.go: the ways to judge a claim
//   - figures.go: published figures with the measured ones
//   - odd.go: published figures that contradict each other
//   - judge.go: one result for all experiments of a case, and what tare recommends
//   - one file for each case
package cases

import (
	"tare/result"
)

// Case is a published measurement and how it is repeated.
type Case struct {
	ID          string // of its file in published/
	Doc         string
	Experiments []Experiment
	// Place changes a published figure's spot to the one measured here, where names and
	// metrics do not determine it; nil: they do.
	Place func(f figure, s *spot)
	// Claims are in the order in which they were published.
	Claims []claim
	// Candidates are the spots from which tare recommends one, by their tolls.
	Candidates []spot
}

// Experiment is one run of a case. What its plan leaves open has the defaults of
// tare run.
type Experiment struct {
	Name string
	Doc  string
	Plan result.Plan
}

// All lists the cases in the order of a listing.
func All() []Case {
	return []Case{
		containerdBridge(),
		dockerBridgeOVSOverlay(),
		dockerSysbench(),
		openshiftCalicoOVS(),
		vxlanAndClusterNetworks(),
		kubeProxyNftables(),
	}
}

// Find returns the case with an ID, and reports whether there is one.
func Find(id string) (Case, bool) {
	return result.First(All(), func(c Case) bool { return c.ID == id })
}

// IDs names every case.
func IDs() []string {
	return result.Names(All(), func(c Case) string { return c.ID })
}

// Networks names the networks that a case measures, each once.
func (c Case) Networks() []string {
	var names []string
	for _, e := range c.Experiments {
		for _, n := range e.Plan.Networks {
			names = result.AddOnce(names, n.Name)
		}
	}
	return names
}

// Rates of links in bit/s. The articles' processors fill 10 Gbit/s with MTU-sized
// frames; fast is what one CPU of the lab fills in the same way.
const (
	mbit = 1e6
	gbit = 1e9
	fast = 2.5 * gbit
)
