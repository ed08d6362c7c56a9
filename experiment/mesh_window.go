package experiment

import (
	"cmp"
	"context"
	"math"
	"sync"
	"time"

	"tare/network"
	"tare/result"
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
// failed, the window has.
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
		metrics, err := m.run(ctx, of, w, as)
		if err != nil && ctx.Err() == nil && !final(err) {
			metrics, err = m.run(ctx, of, w, as)
		}
		if err != nil {
			return measured{failed: err}
		}
		kind, _ := workload.Find(w.Name)
		if value, has := metrics[kind.Headline]; has {
			all.metrics[kind.Headline] = value
		}
	}
	return all
}

// variant is how a window differs from what the plan has.
type variant struct {
	port  uint16 // is added to that of the server
	times int    // is it as long
	parts int    // is it measured in; 0: in one
}

func (m *meshing) run(ctx context.Context, of mesh.Pair, w result.WorkloadPlan, as variant) (map[string]float64, error) {
	client, server := m.Nodes[of.Client], m.Nodes[of.Server]
	ends, err := m.between(ctx, of)
	if err != nil {
		return nil, err
	}
	p := pair{ends: ends}
	if p.server, err = m.Site.Agent(ctx, server.At, "server"); err != nil {
		return nil, err
	}
	if p.client, err = m.Site.Agent(ctx, client.At, "client"); err != nil {
		return nil, err
	}
	run := runOf(m.Plan, w)
	run.SharedCPU = client.Boot == server.Boot
	run.Duration = time.Duration(as.times) * run.Duration / time.Duration(max(1, as.parts))
	run.Warmup = time.Duration(as.times) * run.Warmup / time.Duration(max(1, as.parts))
	out, err := p.measure(ctx, cmp.Or(ends.Port, network.Port)+as.port, w.Name, run)
	return out.Sample().Metrics, err
}
