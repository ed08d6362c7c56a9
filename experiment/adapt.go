package experiment

import (
	"slices"

	"tare/catalog"
	"tare/experiment/schedule"
	"tare/result"
	"tare/site"
)

// SizeOf is how many samples a plan takes at most.
func SizeOf(p result.Plan) int64 { return int64(runsOf(p)) * int64(p.Blocks) }

// runsOf is how many runs a block of a plan has.
func runsOf(p result.Plan) (runs int) {
	for _, g := range groupsOf(p) {
		runs += len(g.places)
	}
	return runs
}

// Skip leaves a network out of a plan, and records the reason in the plan.
func Skip(p result.Plan, name, reason string) result.Plan {
	kept := slices.Clone(p.Networks)
	p.Networks = slices.DeleteFunc(kept, func(n result.NetworkPlan) bool { return n.Name == name })
	if len(p.Networks) < len(kept) {
		p.Skipped = append(slices.Clone(p.Skipped), result.SkippedNetwork{Name: name, Reason: reason})
	}
	return p
}

// Narrow fits a plan to a lab that exists: its networks, the values of its axes and its CPUs. The plan is one that is not completed yet.
func Narrow(p result.Plan, t site.Topology) (result.Plan, error) {
	if mixesLive(p) && t.Spec.Site == "" {
		return p, &InputError{"mode xdp beside other modes: in a lab that is up the same devices serve all: run it alone"}
	}
	asked := p.Networks
	p.Networks, p.EncapNIC, p.Site, p.CPUs = nil, nil, t.Spec.Site, t.Spec.CPUs
	rps := rpsOff
	if t.Spec.RPS {
		rps = rpsOn
	}
	p.Axes = result.PlanAxes{}.With("cc", t.Spec.CC).With("pin", t.Spec.Pin).With("rps", rps)
	var there []result.NetworkPlan
	if p.Reference == "" {
		there = append(there, result.NetworkPlan{Name: catalog.Baseline})
	}
	for _, u := range t.Clusters {
		if u.Error != "" {
			continue
		}
		for name, value := range u.Axes {
			if value != 0.0 { // it is known there
				p.Axes = p.Axes.With(name, value)
			}
		}
		n := result.NetworkPlan{Name: u.Network, Params: result.MakeSettings(u.Params)}
		same := func(o result.NetworkPlan) bool { return o.Name == n.Name && o.Params.String() == n.Params.String() }
		if !u.Baseline && !slices.ContainsFunc(there, same) { // a lab may have it with several interfaces
			there = append(there, n)
		}
	}
	all := len(asked) == 0 || sameNames(asked, Plain()) || sameNames(asked, Everything())
	is := func(name string) func(n result.NetworkPlan) bool {
		return func(n result.NetworkPlan) bool { return n.Name == name }
	}
	for _, n := range there {
		if all || slices.ContainsFunc(asked, is(n.Name)) {
			p.Networks = append(p.Networks, n)
		}
	}
	for _, n := range asked {
		if !all && !slices.ContainsFunc(there, is(n.Name)) {
			return p, &InputError{"network " + n.Name + " is not in this lab: tare lab show lists those that are"}
		}
	}
	p = Complete(p)
	return p, Check(p)
}

// sameNames reports whether the networks are those of the names, in their order.
func sameNames(networks []result.NetworkPlan, names []string) bool {
	return slices.EqualFunc(networks, names, func(n result.NetworkPlan, name string) bool { return n.Name == name })
}

// unhurriedWindow is the least window on a CPU that is emulated.
const unhurriedWindow result.Seconds = 0.1

// unhurried is a plan for a CPU that is emulated: it is too slow for slots.
func unhurried(p result.Plan) result.Plan {
	if p.Design == result.DesignSlots {
		p.Design, p.Looks = result.DesignWindows, false
		p.Duration, p.Warmup = max(p.Duration, unhurriedWindow), max(p.Warmup, schedule.LeastWarmup)
	}
	return p
}
