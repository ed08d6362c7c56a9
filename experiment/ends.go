package experiment

import (
	"slices"
	"strings"

	"tare/lab"
	"tare/network"
	"tare/wire"
	"tare/workload"
)

// within tells that both ends are on one host, so that nothing leaves it.
func within(ends network.Ends) bool {
	return hostOf(ends.Client) == hostOf(ends.Server)
}

// hostOf is the host of a place: "h1" of "h1/c1".
func hostOf(place string) string {
	host, _, _ := strings.Cut(place, "/")
	return host
}

// spins tells whether a paced sender may wait in a busy loop: its host has
// CPUs that the receiver's has not.
func (r *runner) spins(underlay string, ends network.Ends) bool {
	for _, u := range r.Topology.Underlays {
		if u.Name != underlay {
			continue
		}
		sender, err1 := lab.ParseCPUSet(u.CPUs[hostOf(ends.Client)])
		receiver, err2 := lab.ParseCPUSet(u.CPUs[hostOf(ends.Server)])
		shared := slices.ContainsFunc(sender, func(cpu int) bool { return slices.Contains(receiver, cpu) })
		return err1 == nil && err2 == nil && !shared // an empty list is bound nowhere
	}
	return false
}

// fragments is how many packets a datagram of the run travels in.
func (r *runner) fragments(p place, path, name string, run workload.Run) (int, bool) {
	kind, _ := workload.Find(name)
	if kind.TCP {
		return 0, false
	}
	mtu := wire.InnerMTU(r.plan.MTU, p.network.Stack)
	if path == network.SamePod || p.layout != "" && network.Within(path) {
		mtu = lab.LoopbackMTU
	}
	return wire.Fragments(run.Size, mtu), true
}
