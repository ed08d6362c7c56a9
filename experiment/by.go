package experiment

import (
	"fmt"
	"slices"

	"tare/catalog"
	"tare/result"
)

// Comparable names what a plan may compare along: axes, and the parameters of networks.
func Comparable() []string {
	several := slices.DeleteFunc(result.PlannedAxes(), func(a result.Axis) bool { return !a.Many })
	all := result.Names(several, func(a result.Axis) string { return a.Name })
	for _, name := range slices.Concat(Sweepable(), result.Names(catalog.Params(), func(p catalog.Param) string { return p.Name })) {
		all = result.AddOnce(all, name)
	}
	return all
}

// withBaseline is a plan that has its baseline among its networks; the host is everybody's.
func withBaseline(p result.Plan) result.Plan {
	if p.Baseline == catalog.Baseline {
		p.Baseline = ""
	}
	is := func(n result.NetworkPlan) bool { return n.Name == p.Baseline }
	skipped := slices.ContainsFunc(p.Skipped, func(s result.SkippedNetwork) bool { return s.Name == p.Baseline })
	if p.Baseline != "" && !skipped && !slices.ContainsFunc(p.Networks, is) {
		p.Networks = append(slices.Clone(p.Networks), result.NetworkPlan{Name: p.Baseline})
	}
	return p
}

// checkBy refuses to compare along what a plan has one value of.
func checkBy(p result.Plan) error {
	for _, by := range p.By {
		if !slices.Contains(Comparable(), by) {
			return Unknown("by", by, Comparable())
		}
		if n := len(valuesOf(p, by)); n < 2 {
			return &InputError{fmt.Sprintf("by %s: there is one value of it in the plan, and nothing to compare it with: give several, as in --by mtu=1500,9000", by)}
		}
	}
	return nil
}

// valuesOf are those that the cells of a plan have of an axis or a parameter.
func valuesOf(p result.Plan, name string) (values []string) {
	for _, g := range groupsOf(p) {
		for _, at := range g.places {
			if at.network.Name != catalog.Baseline || len(g.places) == 2 {
				values = result.AddOnce(values, params(p, g, at, false).Text(name))
			}
		}
	}
	return values
}
