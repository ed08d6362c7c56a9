package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"

	"tare/agent"
	"tare/network"
	"tare/probe"
	"tare/result"
	"tare/workload"
)

// measureTwice gives a run that fails a second chance in the same block.
func (r *runner) measureTwice(ctx context.Context, v visit) (result.Sample, error) {
	g := r.groups[v.group]
	run := runOf(r.plan, g.workload)
	if before := r.cells[keyOf(v.group, v.place)].Samples; len(before) > 0 && run.Tool != "" {
		run.Expect = before[len(before)-1].Metrics["rate"]
	}
	sample, err := r.measure(ctx, v.place, g.path, g.workload.Name, run)
	if err == nil || ctx.Err() != nil || final(err) {
		return sample, err
	}
	second, errSecond := r.measure(ctx, v.place, g.path, g.workload.Name, run)
	if errSecond != nil {
		return second, err
	}
	second.Warnings = append(second.Warnings, repeatedAfter(err))
	return second, nil
}

// repeatedAfter is the warning of a run whose first try failed.
func repeatedAfter(err error) string { return "repeated: the first try failed: " + err.Error() }

// final reports whether a run that failed so will fail again: its agent or its
// server is gone.
func final(err error) bool {
	broken, ended := new(agent.BrokenError), new(serverError)
	return errors.As(err, &broken) || errors.As(err, &ended)
}

// measure does one run on a path.
func (r *runner) measure(ctx context.Context, p place, path, name string, run workload.Run) (result.Sample, error) {
	if kind, _ := workload.Find(name); kind.Cycle != nil {
		return r.operate(ctx, p, path, kind, run)
	}
	ends, served := r.ends[p.cluster][path]
	if !served {
		return result.Sample{}, noEnds(path, p.cluster)
	}
	sample, err := r.beside(ctx, p, run.Warmup+run.Duration, func() (result.Sample, error) {
		stop := r.count(ctx, p.cluster, ends)
		sample, err := r.between(ctx, p.cluster, ends, r.portOf(p.cluster, ends), name, run)
		stop(&sample)
		return sample, err
	})
	if count, ok := r.fragments(p, path, name, run); ok && err == nil {
		sample.Counters["fragments_per_datagram"] = float64(count)
	}
	return sample, err
}

// portOf is where a server of a cluster listens.
func (r *runner) portOf(cluster string, ends network.Ends) uint16 {
	return cmp.Or(ends.Port, r.ports[cluster], network.Port)
}

func noEnds(path, cluster string) error {
	return fmt.Errorf("path %s of %s: the lab has no such ends", path, cluster)
}

// between does one run between two ends and joins what both saw.
func (r *runner) between(ctx context.Context, cluster string, ends network.Ends, port uint16, name string, run workload.Run) (result.Sample, error) {
	out, err := r.outcome(ctx, cluster, ends, port, name, run)
	if err != nil {
		return result.Sample{}, err
	}
	return r.sample(out, cmp.Or(run.CC, r.plan.CC))
}

// outcome does one run between two ends, or against the real server at one. Several
// pairs of ends may do so at once.
func (r *runner) outcome(ctx context.Context, cluster string, ends network.Ends, port uint16, name string, run workload.Run) (agent.Outcome, error) {
	run.Spin = r.spins(cluster, ends)
	run.SharedCPU = !run.Spin && !apart(r.Topology.Places, ends)
	if r.sandboxes[cluster] {
		run = inSandbox(run, r.plan.CC)
	}
	if run.Server != "" {
		return r.against(ctx, cluster, ends, name, run)
	}
	pair, err := r.pairOf(ctx, cluster, ends)
	if err != nil {
		return agent.Outcome{}, err
	}
	return pair.measure(ctx, port, name, run)
}

// pair is the agents at both ends of a path.
type pair struct {
	ends           network.Ends
	server, client *agent.Handle
}

func (r *runner) pairOf(ctx context.Context, cluster string, ends network.Ends) (p pair, err error) {
	p.ends = ends
	if p.server, err = r.Site.Agent(ctx, cluster+"."+ends.Server, "server"); err != nil {
		return p, err
	}
	p.client, err = r.Site.Agent(ctx, cluster+"."+ends.Client, "client")
	return p, err
}

// measure does one run between the two.
func (p pair) measure(ctx context.Context, port uint16, name string, run workload.Run) (out agent.Outcome, err error) {
	if run.Token, err = workload.NewToken(); err != nil {
		return out, err
	}
	bind := netip.AddrPortFrom(p.ends.Bind, port).String()
	dial := netip.AddrPortFrom(p.ends.Dial, port).String()
	return agent.Measure(ctx, p.server, p.client, name, run, bind, dial)
}

// sample joins the tallies of both ends. A connection under another
// congestion control than the plan's is no measurement of the plan.
func (r *runner) sample(out agent.Outcome, want string) (result.Sample, error) {
	for _, tally := range []workload.Tally{out.Server, out.Client} {
		r.res.Unread = probe.Unread(r.res.Unread, tally.Unread)
		if tally.CC != "" && want != "" && tally.CC != want {
			return out.Sample(), fmt.Errorf("congestion control is %s, not %s as planned: a route lacks congctl", tally.CC, want)
		}
	}
	return out.Sample(), nil
}
