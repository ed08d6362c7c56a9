// Package cases holds published measurements of container networks: their
// figures and claims as data, plans that repeat the experiments, and how each
// claim is judged by what is measured here.
//
//   - cases.go: what a case is, and the list of them
//   - published.go, published/: the figures and claims as they were published
//   - spot.go: where the like of a figure is measured here
//   - evidence.go: what was measured, and one spot weighed against another
//   - judges.go, tolls.go, softirq.go: the ways to judge a claim
//   - figures.go: published and measured figures side by side
//   - odd.go: what of the published figures can't be true together
//   - judge.go: all of it for one case, in one result, and what tare recommends
//   - one file for each case
package cases

import (
	"slices"

	"tare/result"
)

// Case is a published measurement and how it is repeated.
type Case struct {
	ID          string // of its file in published/
	Doc         string
	Experiments []Experiment
	// Place moves a published figure's spot to where it is measured here, beyond
	// what names and metrics tell; nil: nothing is to be moved.
	Place func(f figure, s *spot)
	// Claims are judged in the order in which they were published.
	Claims []claim
	// Candidates are what tare recommends one of, by their tolls.
	Candidates []spot
}

// Experiment is one run of a case. What its plan leaves open is that of tare run.
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
	}
}

// Find gives the case of an ID.
func Find(id string) (Case, bool) {
	all := All()
	n := slices.IndexFunc(all, func(c Case) bool { return c.ID == id })
	if n < 0 {
		return Case{}, false
	}
	return all[n], true
}

// IDs names every case.
func IDs() []string {
	var ids []string
	for _, c := range All() {
		ids = append(ids, c.ID)
	}
	return ids
}

// Networks names the networks that a case measures, each once.
func (c Case) Networks() []string {
	var names []string
	for _, e := range c.Experiments {
		for _, n := range e.Plan.Networks {
			if !slices.Contains(names, n.Name) {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

// networksOf are the networks of a plan by their names.
func networksOf(names ...string) []result.NetworkPlan {
	plans := make([]result.NetworkPlan, len(names))
	for n, name := range names {
		plans[n].Name = name
	}
	return plans
}

// Rates of links in bit/s. The articles' processors fill 10 Gbit/s in frames of an
// MTU; fast is what one CPU of today fills so.
const (
	mbit = 1e6
	gbit = 1e9
	fast = 2.5 * gbit
)
