package experiment

import (
	"cmp"
	"slices"

	"tare/network"
	"tare/result"
	"tare/site"
)

// makeCells makes every cell of the plan, fails those whose cluster is not set up
// and skips what the network turned out not to carry.
func (r *runner) makeCells() {
	built := map[string]site.Built{}
	for _, b := range r.Topology.Clusters {
		built[b.Name] = b
		r.rps[b.Name] = b.RPS
		r.ends[b.Name], r.outside[b.Name], r.cpus[b.Name] = b.Paths, b.Outside, b.CPUs
		r.neighbours[b.Name] = b.Neighbour
		r.warned[b.Name], r.ports[b.Name] = b.Warnings, b.Port
		if n, known := network.Find(b.Network); known && n.Sandboxed {
			r.sandboxes[b.Name] = true
		}
	}
	for n, g := range r.groups {
		group, mode := g.key(r.plan, r.rps), runOf(r.plan, g.workload).Mode
		for _, c := range g.places {
			key := keyOf(n, c)
			if cell, made := r.cells[key]; made {
				cell.Clusters = append(cell.Clusters, c.cluster)
				continue
			}
			b := built[c.cluster]
			cell := &result.Cell{
				Network: c.network.Name, Path: g.path, Workload: g.workload.Name, Fidelity: cmp.Or(b.Fidelity, c.network.Fidelity),
				Clusters: []string{c.cluster}, Group: group,
				Params: params(r.plan, g, c, r.rps[c.cluster]), Mode: mode, Status: result.StatusOK,
			}
			if b.Error != "" {
				cell.Status, cell.Reason = result.StatusFailed, b.Error
			} else if why := cmp.Or(r.unservedBy(b, g), r.unfitFor(c, g)); why != "" {
				cell.Status, cell.Reason = result.StatusSkipped, why
			}
			r.cells[key] = cell
			r.order = append(r.order, key)
		}
	}
}

// unservedBy is why a group's path or server can't be measured on a network that is built;
// empty: it can.
func (r *runner) unservedBy(b site.Built, g group) string {
	if slices.Contains(b.Unserved, g.path) {
		return "with these parameters the network has no such path"
	}
	server, _ := serverOf(g.workload.Name, runOf(r.plan, g.workload))
	if b.Mute != "" && server.SpeaksFirst && network.ByPublishedPort(g.path) {
		return server.Name + " speaks first, and " + b.Mute
	}
	return ""
}
