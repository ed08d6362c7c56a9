package experiment

import (
	"slices"

	"tare/catalog"
	"tare/network"
	"tare/result"
)

// pauses reports whether a workload on some connections can pause between two slots on a
// network: a sandbox has another clock, and a process that relays bulk data goes on with what
// it holds, in the slots of others. A relay between two sockets is through with one connection's
// before a slot counts.
func pauses(w result.WorkloadPlan, n network.Network) bool {
	held := n.Facts.Relays && (w.Flows > 1 || n.Facts.RelaysTAP())
	return !n.Sandboxed && !(w.Name == catalog.Bulk && held)
}

// separated are a group's places that take turns in slots, and those that can't pause beside the
// baselines again, in windows: no network keeps others from taking turns.
func separated(p result.Plan, g group) []group {
	baseline := func(at place) bool { return at.layout != "" }
	turning, rest := g, g
	turning.places = slices.DeleteFunc(slices.Clone(g.places), func(at place) bool { return !pauses(g.workload, at.network) })
	rest.places = slices.DeleteFunc(slices.Clone(g.places), func(at place) bool { return !baseline(at) && pauses(g.workload, at.network) })
	if len(turning.places) == len(g.places) || !slices.ContainsFunc(turning.places, func(at place) bool { return !baseline(at) }) || !takesTurns(p, turning) {
		return []group{g}
	}
	return []group{turning, rest}
}
