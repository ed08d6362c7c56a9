package experiment

import (
	"context"
	"errors"
	"slices"

	"tare/agent"
	"tare/catalog"
	"tare/network/kinds"
	"tare/result"
	"tare/workload"
)

// attaches reports whether a workload that attaches containers has a group on the
// path under the nic: one is enough, since a first packet is never segmented. A
// container that joins a pod is not attached to a network, nor is one added to a Service.
func attaches(kind workload.Workload, path string, b between) bool {
	return !kind.Pathless && b.nth == 0 && path != catalog.SamePod && !catalog.ByService(path)
}

// pathless are the groups of the workloads that have no path: on each engine of
// the plan once, on the first of its networks in the order of the tables.
func pathless(p result.Plan) []group {
	var groups []group
	for _, w := range p.Workloads {
		kind, _ := workload.Find(w.Name)
		if cells := enginesOf(p); kind.Pathless && (len(cells) > 0 || hasBaseline(p)) {
			groups = append(groups, group{path: catalog.NoNetwork, workload: w, between: betweenOf(p)[0], places: append(baselinesOn(p, betweenOf(p)[0]), cells...)})
		}
	}
	return groups
}

func hasBaseline(p result.Plan) bool {
	return slices.ContainsFunc(p.Networks, func(n result.NetworkPlan) bool { return n.Name == catalog.Baseline })
}

// checkPathless refuses a workload that takes an engine where there is none.
func checkPathless(p result.Plan) error {
	for _, w := range p.Workloads {
		if kind, _ := workload.Find(w.Name); kind.Pathless && len(enginesOf(p)) == 0 && !hasBaseline(p) {
			return &InputError{"workload " + w.Name + ": none of these networks has an engine that makes containers: add docker-host or containerd-bridge"}
		}
	}
	return nil
}

// enginesOf are the places of the plan's engines.
func enginesOf(p result.Plan) []place {
	var places []place
	seen := map[string]bool{}
	for _, n := range kinds.All() {
		at := slices.IndexFunc(p.Networks, func(np result.NetworkPlan) bool { return np.Name == n.Name })
		if at < 0 || n.Runtime == "" || seen[n.Runtime] {
			continue
		}
		seen[n.Runtime] = true
		places = append(places, placeOf(p, at, n, betweenOf(p)[0]))
	}
	return places
}

// containers is a site that can make containers, on a path or without one.
type containers interface {
	Attach(ctx context.Context, cluster, path string) (workload.Operation, error)
	Lifecycle(ctx context.Context, cluster string) (workload.Operation, error)
}

// attacher makes containers in one place.
type attacher struct {
	site          containers
	cluster, path string
}

func (a attacher) Attach(ctx context.Context) (workload.Operation, error) {
	return a.site.Attach(ctx, a.cluster, a.path)
}

func (a attacher) Lifecycle(ctx context.Context) (workload.Operation, error) {
	return a.site.Lifecycle(ctx, a.cluster)
}

// operate does one run of a workload that makes containers. It drives them from
// this process.
func (c *conductor) operate(ctx context.Context, p place, path string, kind workload.Workload, run workload.Run) (result.Sample, error) {
	site, can := c.site.(containers)
	if !can {
		return result.Sample{}, errors.New("make containers: this site cannot make any")
	}
	run.Share = p.network.Runtime != ""
	ends, _ := c.built.ends(p.cluster, path) // none where it takes no path
	stop := c.count(ctx, p.cluster, ends)
	tally, err := agent.Metered(run, func(run workload.Run) (workload.Tally, error) {
		return kind.Cycle(ctx, run, attacher{site, p.cluster, path})
	})
	sample := agent.Outcome{Client: tally}.Sample()
	stop(&sample)
	return sample, err
}

// checkOperation makes one container before anything is measured: the error is
// the engine's own.
func (c *conductor) checkOperation(ctx context.Context, p place, path string, kind workload.Workload) error {
	c.progress(Progress{Checking: true})
	_, err := c.operate(ctx, p, path, kind, workload.Run{Mode: kind.Modes[0], Flows: 1})
	return err
}
