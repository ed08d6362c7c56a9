package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tare/agent"
	"tare/catalog"
	"tare/network"
	"tare/result"
	"tare/workload"
)

const (
	// neighbourLead is how long a neighbour runs before what it disturbs: its connections
	// have then found their rate.
	neighbourLead = 200 * time.Millisecond
	// neighbourTail is how long it runs beyond the window: the agents need some of it to begin.
	neighbourTail = 300 * time.Millisecond
)

// neighbourOf reads the neighbour of a network's settings: the workload, and "@" and its rate
// where it has one, as in "udp_stream@50mbit". ok: there is one.
func neighbourOf(settings result.Settings) (w result.WorkloadPlan, ok bool, err error) {
	text := settings.Map()[catalog.Neighbour]
	if text == "" {
		return w, false, nil
	}
	name, rate, paced := strings.Cut(text, "@")
	if fit := neighbourWorkloads(); !slices.Contains(fit, name) {
		return w, true, Unknown("workload of a neighbour", name, fit)
	}
	w.Name = name
	if paced {
		if w.Rate, err = result.ParseRate(rate); err != nil {
			return w, true, &InputError{fmt.Sprintf("neighbour %s: %v", text, err)}
		}
	}
	if err := checkWorkload(w); err != nil {
		return w, true, &InputError{fmt.Sprintf("neighbour %s: %v", text, err)}
	}
	return w, true, nil
}

// neighbourWorkloads names what a neighbour can run: workloads that need no real server.
func neighbourWorkloads() []string {
	return takers(func(k workload.Workload) bool { return k.Serve != nil && k.Send != nil && !k.Application() })
}

// hasNeighbour reports whether a network of the plan has a neighbour.
func hasNeighbour(p result.Plan) bool {
	return slices.ContainsFunc(p.Networks, func(n result.NetworkPlan) bool { return n.Params.Map()[catalog.Neighbour] != "" })
}

// neighbourEnd is how a neighbour's run ended.
type neighbourEnd struct {
	out agent.Outcome
	err error
}

// beside does a measurement while the neighbour of its place runs, where that has one. window
// is how long the measurement takes, warm-up included: one that the neighbour did not outlast
// is none.
func (c *conductor) beside(ctx context.Context, p place, window time.Duration, measure func() (result.Sample, error)) (result.Sample, error) {
	w, has, err := neighbourOf(p.settings)
	if err != nil {
		return result.Sample{}, err
	}
	if !has {
		return measure()
	}
	neighbour := c.startNeighbour(ctx, p, w, window)
	select {
	case <-time.After(neighbourLead):
	case n := <-neighbour:
		return result.Sample{}, n.lost(p)
	}
	sample, err := measure()
	if err != nil {
		<-neighbour
		return sample, err
	}
	select {
	case n := <-neighbour:
		return sample, n.lost(p)
	default:
	}
	n := <-neighbour
	if n.err != nil {
		return sample, n.lost(p)
	}
	kind, _ := workload.Find(w.Name)
	sample.Counters["neighbour_"+kind.Headline] = n.out.Sample().Metrics[kind.Headline]
	return sample, nil
}

// startNeighbour starts the neighbour's run, for longer than the window.
func (c *conductor) startNeighbour(ctx context.Context, p place, w result.WorkloadPlan, window time.Duration) <-chan neighbourEnd {
	done := make(chan neighbourEnd, 1)
	ends := c.built[p.cluster].Neighbour
	if ends == nil {
		done <- neighbourEnd{err: errors.New("its lab has no such containers: build it with --neighbour, two --hosts and three --containers")}
		return done
	}
	run := runOf(c.plan, w)
	run.Warmup, run.Duration, run.Interval = neighbourLead, window+neighbourTail, 0
	go func() {
		out, err := c.outcome(ctx, p.cluster, *ends, network.OutsidePort, w.Name, run)
		done <- neighbourEnd{out, err}
	}()
	return done
}

// lost is why a measurement beside a neighbour counts for nothing.
func (n neighbourEnd) lost(p place) error {
	if n.err != nil {
		return fmt.Errorf("neighbour %s: %w", p.settings.Map()[catalog.Neighbour], n.err)
	}
	return fmt.Errorf("neighbour %s: it ended before what was measured beside it: other work keeps this machine's CPUs: stop it", p.settings.Map()[catalog.Neighbour])
}
