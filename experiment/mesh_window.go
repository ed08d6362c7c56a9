package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"tare/network"
	"tare/result"
	"tare/traffic"
	"tare/weigh/mesh"
	"tare/workload"
)

// measured is what a window gave.
type measured struct {
	metrics map[string]float64
	failed  error
}

// add adds a metric.
func (m *measured) add(name string, value float64) {
	if m.metrics == nil {
		m.metrics = map[string]float64{}
	}
	m.metrics[name] = value
}

const (
	// mostTurns is in how many parts a window is measured where nodes share a machine, whose speed
	// changes for all of them: each pair of a round has a part in turn, so that all meet the
	// same changes. leastPart is the shortest part.
	mostTurns = 5
	leastPart = 20 * time.Millisecond
)

// turns is in how many parts windows are measured.
func (m *meshing) turns() int {
	if Apart(m.Nodes) {
		return 1
	}
	return min(mostTurns, max(1, int(m.Plan.Duration.Duration()/leastPart)))
}

// together are the batches that are measured in turns: those of one round.
func (m *meshing) together(batches [][]mesh.Window) (rounds [][][]mesh.Window) {
	for n, batch := range batches {
		if n > 0 && m.turns() > 1 && batch[0].Round == batches[n-1][0].Round {
			rounds[len(rounds)-1] = append(rounds[len(rounds)-1], batch)
		} else {
			rounds = append(rounds, [][]mesh.Window{batch})
		}
	}
	return rounds
}

// measure measures batches one after the other, in turns, the windows of each at the same time, and
// adds what they gave: of parts the geometric mean. The error is only that of an interruption.
func (m *meshing) measure(ctx context.Context, batches [][]mesh.Window) error {
	m.progress()
	if err := m.spare(ctx); err != nil {
		return err
	}
	turns := m.turns()
	all := make([][]measured, len(batches))
	for turn := range turns {
		for n, windows := range batches {
			if turn == 0 {
				all[n] = make([]measured, len(windows))
			}
			var ended sync.WaitGroup
			for k, w := range windows {
				ended.Go(func() { m.part(ctx, w.Pair, turns, &all[n][k]) })
			}
			ended.Wait()
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	for n, windows := range batches {
		for k, w := range windows {
			failed := ""
			if err := all[n][k].failed; err != nil {
				failed = err.Error()
			}
			m.mesh.Add(w, all[n][k].metrics, failed)
			m.share.Spend(all[n][k].metrics["throughput"]*m.Plan.Duration.Duration().Seconds(), time.Now())
		}
	}
	return nil
}

// part measures one of several parts of a window, and joins it to what the others gave. Where one
// failed, the window has: each part that did not gives all metrics.
func (m *meshing) part(ctx context.Context, of mesh.Pair, turns int, all *measured) {
	if all.failed != nil {
		return
	}
	one := m.window(ctx, of, variant{times: 1, parts: turns})
	if one.failed != nil {
		*all = one
		return
	}
	for name, value := range one.metrics {
		before, has := all.metrics[name]
		if !has {
			before = 1
		}
		all.add(name, before*math.Pow(value, 1/float64(turns)))
	}
}

// window runs each workload of the plan between two nodes. One that fails gets a second chance.
func (m *meshing) window(ctx context.Context, of mesh.Pair, as variant) measured {
	all := measured{metrics: map[string]float64{}}
	for _, w := range m.Plan.Workloads {
		value, err := m.headline(ctx, of, w, as)
		if few := new(tooFew); err != nil && ctx.Err() == nil && !final(err) && !errors.As(err, &few) {
			value, err = m.headline(ctx, of, w, as)
		}
		if err != nil {
			return measured{failed: err}
		}
		kind, _ := workload.Find(w.Name)
		all.metrics[kind.Headline] = value
	}
	return all
}

const (
	// leastTrips is how many round trips a median takes, and half as many again, for a window that is
	// as long as they took before.
	leastTrips = 3 * traffic.TailSamples
	// mostTimes is how many times as long a window becomes at most.
	mostTimes = 50
)

// headline runs a workload between two nodes, and gives its headline. A window that ends before enough
// round trips have is measured again, longer: far nodes, and those that are very slow, are measured too.
func (m *meshing) headline(ctx context.Context, of mesh.Pair, w result.WorkloadPlan, as variant) (float64, error) {
	kind, _ := workload.Find(w.Name)
	for {
		metrics, lasted, err := m.run(ctx, of, w, as)
		if err != nil {
			return 0, err
		}
		if value, has := metrics[kind.Headline]; has {
			return value, nil
		}
		if as.times == mostTimes {
			return 0, &tooFew{kind.Headline, lasted}
		}
		as.times = min(as.times*longer(metrics["rtt_mean"], lasted), mostTimes)
	}
}

// tooFew is that a metric needs more round trips than ended in the longest window.
type tooFew struct {
	metric string
	lasted time.Duration
}

func (f *tooFew) Error() string {
	return fmt.Sprintf("measure %s: too few round trips ended within %v: choose longer windows (--duration)", f.metric, f.lasted)
}

// longer is how many times as long a window is to be in which too few round trips of a mean ended; 0: none did.
func longer(mean float64, lasted time.Duration) int {
	if mean == 0 {
		return 10
	}
	return max(2, int(math.Ceil(leastTrips*mean/lasted.Seconds())))
}

// variant is how a window differs from what the plan has.
type variant struct {
	port  uint16 // is added to that of the server
	times int    // is it as long
	parts int    // is it measured in; 0: in one
}

// run runs a workload between two nodes, and gives its metrics, and how long the window was to be.
func (m *meshing) run(ctx context.Context, of mesh.Pair, w result.WorkloadPlan, as variant) (map[string]float64, time.Duration, error) {
	client, server := m.Nodes[of.Client], m.Nodes[of.Server]
	ends, err := m.between(ctx, of)
	if err != nil {
		return nil, 0, err
	}
	p := pair{ends: ends}
	if p.server, err = m.Site.Agent(ctx, server.At, "server"); err != nil {
		return nil, 0, err
	}
	if p.client, err = m.Site.Agent(ctx, client.At, "client"); err != nil {
		return nil, 0, err
	}
	run := runOf(m.Plan, w)
	run.SharedCPU = client.Boot == server.Boot
	run.Duration = time.Duration(as.times) * run.Duration / time.Duration(max(1, as.parts))
	run.Warmup = time.Duration(as.times) * run.Warmup / time.Duration(max(1, as.parts))
	out, err := p.measure(ctx, cmp.Or(ends.Port, network.Port)+as.port, w.Name, run)
	return out.Sample().Metrics, run.Duration, err
}
