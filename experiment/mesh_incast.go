package experiment

import (
	"context"
	"slices"
	"sync"
	"time"

	"tare/result"
	"tare/weigh/mesh"
	"tare/workload"
)

// incastTimes is how many times as long as others a window of an incast is: its senders do not
// begin at the same instant, and most of it is to have all of them.
const incastTimes = 10

// incast measures, in each pass, rounds in which many send to few: each node serves once. Nodes
// that never answered are left out, or no round would have all of its senders.
func (m *meshing) incast(ctx context.Context) error {
	in := m.res.Mesh.Incast
	if in == nil {
		return nil
	}
	nodes := m.mesh.Answering()
	if len(nodes) <= in.Servers {
		return nil
	}
	for pass := range m.Plan.Blocks {
		rounds := mesh.Incast(nodes, in.Servers, m.res.Mesh.Seed+uint64(pass))
		m.total += len(rounds)
		for n, pairs := range rounds {
			m.done++
			number := pass*len(rounds) + n
			if slices.ContainsFunc(in.Rounds, func(r result.MeshRound) bool { return r.Round == number }) {
				continue
			}
			if err := m.manyToFew(ctx, number, pairs); err != nil {
				return err
			}
			if err := m.Save(m.res); err != nil {
				return err
			}
		}
	}
	return nil
}

// manyToFew measures all pairs of a round of an incast at once, workload by workload. None gets a
// second chance: it would have the server to itself.
func (m *meshing) manyToFew(ctx context.Context, number int, pairs []mesh.Pair) error {
	m.progress()
	if err := m.spare(ctx); err != nil {
		return err
	}
	all := make([]measured, len(pairs))
	for _, w := range m.Plan.Workloads {
		kind, _ := workload.Find(w.Name)
		clients := map[int]uint16{} // of a server, each with a port for itself
		var ended sync.WaitGroup
		for n, pair := range pairs {
			as := variant{port: clients[pair.Server], times: incastTimes}
			clients[pair.Server]++
			ended.Go(func() {
				metrics, _, err := m.run(ctx, pair, w, as)
				if err != nil {
					all[n].failed = err
				} else if value, has := metrics[kind.Headline]; has {
					all[n].add(kind.Headline, value)
				}
			})
		}
		ended.Wait()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for n, pair := range pairs {
		failed := ""
		if err := all[n].failed; err != nil {
			failed = err.Error()
		}
		m.mesh.AddIncast(number, pair, all[n].metrics, failed)
		m.share.Spend(all[n].metrics["throughput"]*incastTimes*m.Plan.Duration.Duration().Seconds(), time.Now())
	}
	return nil
}
