package experiment

import (
	"cmp"
	"slices"

	"tare/catalog"
	"tare/lab"
	"tare/network"
	"tare/network/kinds"
	"tare/site"
)

// clusters are what was built of a plan, by name.
type clusters map[string]builtCluster

type builtCluster struct {
	site.Built
	sandboxed bool // its containers are in sandboxes
}

func clustersOf(t site.Topology) clusters {
	all := clusters{}
	for _, b := range t.Clusters {
		n, _ := kinds.Find(b.Network)
		all[b.Name] = builtCluster{b, n.Sandboxed}
	}
	return all
}

// ends are those of a path on a cluster; false: it has none.
func (all clusters) ends(cluster, path string) (network.Ends, bool) {
	ends, served := all[cluster].Paths[path]
	return ends, served
}

// port is where a server of a cluster listens.
func (all clusters) port(cluster string, ends network.Ends) uint16 {
	return cmp.Or(ends.Port, all[cluster].Port, network.Port)
}

// spins reports whether a paced sender may wait in a busy loop: its host has
// CPUs that the receiver's has not.
func (all clusters) spins(cluster string, ends network.Ends) bool {
	cpus := all[cluster].CPUs
	sender, err1 := lab.ParseCPUSet(cpus[catalog.HostOf(ends.Client)])
	receiver, err2 := lab.ParseCPUSet(cpus[catalog.HostOf(ends.Server)])
	shared := slices.ContainsFunc(sender, func(cpu int) bool { return slices.Contains(receiver, cpu) })
	return err1 == nil && err2 == nil && !shared // an empty list is bound nowhere
}

// steering is which clusters steer what arrives.
func (all clusters) steering() map[string]bool {
	steers := map[string]bool{}
	for name, b := range all {
		steers[name] = b.RPS
	}
	return steers
}

// warn adds a warning to all numbers of a cluster.
func (all clusters) warn(cluster, text string) {
	b := all[cluster]
	b.Warnings = append(slices.Clone(b.Warnings), text)
	all[cluster] = b
}
