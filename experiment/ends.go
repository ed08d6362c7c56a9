package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tare/lab"
	"tare/network"
	"tare/result"
	"tare/wire"
	"tare/workload"
)

// spins reports whether a paced sender may wait in a busy loop: its host has
// CPUs that the receiver's has not.
func (r *runner) spins(cluster string, ends network.Ends) bool {
	for _, u := range r.Topology.Clusters {
		if u.Name != cluster {
			continue
		}
		sender, err1 := lab.ParseCPUSet(u.CPUs[network.HostOf(ends.Client)])
		receiver, err2 := lab.ParseCPUSet(u.CPUs[network.HostOf(ends.Server)])
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
	mtu := wire.InnerMTU(p.mtu, p.network.Stack)
	dial := r.ends[p.cluster][path].Dial
	if dial.IsLoopback() {
		mtu = lab.LoopbackMTU
	}
	return wire.Fragments(wire.IPOf(dial), run.Size, mtu), true
}

// meet records how a cell's two ends are confined. It refuses a cell if one of its
// ends may run on other CPUs than its host's: the toll would be that of the CPUs.
func (r *runner) meet(ctx context.Context, p place, path string, cell *result.Cell) error {
	ends := r.ends[p.cluster][path]
	var seen []string
	apart := false
	for _, end := range []struct {
		at, role string
		into     **result.End
	}{{ends.Client, "client", &cell.Client}, {ends.Server, "server", &cell.Server}} {
		h, err := r.Site.Agent(ctx, p.cluster+"."+end.at, end.role)
		if err != nil {
			return err
		}
		host, cpus := r.cpus[p.cluster][network.HostOf(end.at)], h.CPUs
		if r.sandboxes[p.cluster] && end.at != network.HostOf(end.at) {
			cpus = cmp.Or(cpus, host) // it shows none: the lab has seen that the sandbox is bound there
		}
		*end.into = &result.End{At: end.at, Seccomp: h.Seccomp, CPUs: cpus}
		seen = append(seen, fmt.Sprintf("%s on %s, its host on %s", end.at, cpus, cmp.Or(host, "any")))
		apart = apart || host != "" && host != cpus
	}
	if apart {
		return fmt.Errorf("the ends may run on other CPUs than their hosts: %s", strings.Join(seen, "; "))
	}
	return nil
}
