package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"

	"tare/agent"
	"tare/network"
	"tare/protocol"
	"tare/result"
	"tare/workload"
)

// measureTwice gives a run that fails a second chance in the same block.
func (c *conductor) measureTwice(ctx context.Context, p place, path, name string, run workload.Run) (result.Sample, error) {
	sample, err := c.measure(ctx, p, path, name, run)
	if err == nil || ctx.Err() != nil || final(err) {
		return sample, err
	}
	second, errSecond := c.measure(ctx, p, path, name, run)
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
	broken, ended := new(protocol.BrokenError), new(serverError)
	return errors.As(err, &broken) || errors.As(err, &ended)
}

// measure does one run on a path.
func (c *conductor) measure(ctx context.Context, p place, path, name string, run workload.Run) (result.Sample, error) {
	if kind, _ := workload.Find(name); kind.Cycle != nil {
		return c.operate(ctx, p, path, kind, run)
	}
	ends, served := c.built.ends(p.cluster, path)
	if !served {
		return result.Sample{}, noEnds(path, p.cluster)
	}
	sample, err := c.beside(ctx, p, run.Warmup+run.Duration, func() (result.Sample, error) {
		stop := c.count(ctx, p.cluster, ends)
		sample, err := c.between(ctx, p.cluster, ends, c.built.port(p.cluster, ends), name, run)
		stop(&sample)
		return sample, err
	})
	if count, ok := c.fragments(p, path, name, run); ok && err == nil {
		sample.Counters["fragments_per_datagram"] = float64(count)
	}
	return sample, err
}

func noEnds(path, cluster string) error {
	return fmt.Errorf("path %s of %s: the lab has no such ends", path, cluster)
}

// between does one run between two ends and joins what both saw.
func (c *conductor) between(ctx context.Context, cluster string, ends network.Ends, port uint16, name string, run workload.Run) (result.Sample, error) {
	out, err := c.outcome(ctx, cluster, ends, port, name, run)
	if err != nil {
		return result.Sample{}, err
	}
	return c.sample(out, cmp.Or(run.CC, c.plan.Axes.Word("cc")))
}

// outcome does one run between two ends, or against the real server at one. Several
// pairs of ends may do so at once.
func (c *conductor) outcome(ctx context.Context, cluster string, ends network.Ends, port uint16, name string, run workload.Run) (agent.Outcome, error) {
	run.Spin = c.built.spins(cluster, ends)
	run.SharedCPU = !run.Spin && !apart(c.places, ends)
	if c.built[cluster].sandboxed {
		run = inSandbox(run, c.plan.Axes.Word("cc"))
	}
	if run.Server != "" {
		return c.against(ctx, cluster, ends, name, run)
	}
	pair, err := c.pairOf(ctx, cluster, ends)
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

func (c *conductor) pairOf(ctx context.Context, cluster string, ends network.Ends) (p pair, err error) {
	p.ends = ends
	if p.server, err = c.site.Agent(ctx, cluster+"."+ends.Server, "server"); err != nil {
		return p, err
	}
	p.client, err = c.site.Agent(ctx, cluster+"."+ends.Client, "client")
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
func (c *conductor) sample(out agent.Outcome, want string) (result.Sample, error) {
	for _, tally := range []workload.Tally{out.Server, out.Client} {
		c.unread(tally.Unread)
		if tally.CC != "" && want != "" && tally.CC != want {
			return out.Sample(), fmt.Errorf("congestion control is %s, not %s as planned: a route lacks congctl", tally.CC, want)
		}
	}
	return out.Sample(), nil
}
