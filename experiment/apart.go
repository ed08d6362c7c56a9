package experiment

import (
	"slices"

	"tare/network"
	"tare/result"
	"tare/workload"
)

// pauses reports whether what is sent over a network can pause between two slots: a sandbox
// has another clock, and a process that relays bulk data goes on with what it holds, in the
// slots of others.
func pauses(kind workload.Workload, n network.Network) bool {
	return !n.Sandboxed && !(kind.Name == workload.Bulk && n.Facts.Relays)
}

// separated are a group's places that take turns in slots, and those that can't pause beside the
// baselines again, in windows: no network keeps others from taking turns.
func separated(p result.Plan, g group) []group {
	kind, _ := workload.Find(g.workload.Name)
	baseline := func(at place) bool { return at.layout != "" }
	turning, rest := g, g
	turning.places = slices.DeleteFunc(slices.Clone(g.places), func(at place) bool { return !pauses(kind, at.network) })
	rest.places = slices.DeleteFunc(slices.Clone(g.places), func(at place) bool { return !baseline(at) && pauses(kind, at.network) })
	if len(turning.places) == len(g.places) || !slices.ContainsFunc(turning.places, func(at place) bool { return !baseline(at) }) || !takesTurns(p, turning) {
		return []group{g}
	}
	return []group{turning, rest}
}
