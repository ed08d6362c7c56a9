package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"tare/experiment/schedule"
	"tare/network"
	"tare/probe"
	"tare/result"
	"tare/weigh/mesh"
	"tare/workload"
)

// MeshNode is a machine of a mesh.
type MeshNode struct {
	result.MeshNode
	At   string // where the site finds it
	Boot string // nodes that share it are on one machine; empty: unknown
}

// Meshing is a mesh to measure.
type Meshing struct {
	Site  Site
	Nodes []MeshNode
	// Ends finds how one place reaches another. It is called once for each pair and direction.
	Ends  func(ctx context.Context, from, to string) (network.Ends, error)
	Plan  result.Plan // completed: its workloads, their windows, Blocks passes over all pairs
	Dense bool        // each round is run with all of its pairs at once, too
	// Incast is how many nodes all others send to at once, after that; 0: none. A mesh that
	// goes on has its own.
	Incast int
	// Resume is a mesh that was interrupted, and goes on; nil: it begins.
	Resume   *result.Result
	Facts    []string // what is known of the site beforehand
	Tool     result.Tool
	Save     func(*result.Result) error // after each round
	Progress func(Progress)
}

// meshing is a mesh under way.
type meshing struct {
	Meshing
	res    *result.Result
	mesh   *mesh.Mesh
	share  *schedule.Share
	mu     sync.Mutex
	ends   map[[2]int]network.Ends
	done   int
	total  int
	passed time.Time
}

// Mesh measures between pairs of nodes and judges who is slow. What was measured is returned
// also where it is interrupted.
func Mesh(ctx context.Context, m Meshing) (*result.Result, error) {
	running, err := newMeshing(m)
	if err != nil {
		return nil, err
	}
	err = running.rounds(ctx)
	if err == nil {
		err = running.again(ctx)
	}
	if err == nil {
		err = running.incast(ctx)
	}
	running.mesh.Judge()
	if err == nil {
		running.res.Finished = time.Now().UTC().Format(time.RFC3339)
	}
	return running.res, errors.Join(err, m.Save(running.res))
}

func newMeshing(m Meshing) (*meshing, error) {
	res := m.Resume
	if res == nil {
		id, err := newID()
		if err != nil {
			return nil, err
		}
		res = &result.Result{
			Schema: result.Schema, ID: id, Tool: m.Tool, Site: cmp.Or(m.Plan.Site, result.SiteLab), Plan: m.Plan, Environment: probe.Environment("/"),
			Started: time.Now().UTC().Format(time.RFC3339), Facts: m.Facts,
			Mesh: &result.Mesh{Margin: mesh.DefaultMargin, Seed: cmp.Or(m.Plan.Seed, uint64(time.Now().UnixNano())>>16)},
		}
		if m.Incast > 0 {
			res.Mesh.Incast = &result.MeshIncast{Servers: m.Incast}
		}
		for _, n := range m.Nodes {
			res.Mesh.Nodes = append(res.Mesh.Nodes, n.MeshNode)
		}
		for _, w := range m.Plan.Workloads {
			kind, _ := workload.Find(w.Name)
			res.Mesh.Judged = append(res.Mesh.Judged, kind.Headline)
		}
	}
	return &meshing{
		Meshing: m, res: res, mesh: mesh.On(res.Mesh), share: schedule.NewShare(float64(m.Plan.MaxRate), time.Now()),
		ends: map[[2]int]network.Ends{}, passed: time.Now(),
	}, nil
}

// atOncePart is which part of the nodes is in a pair at the same time in a sparse round.
const atOncePart = 16

// atOnce is how many pairs are measured at the same time where they are to have the machines
// and the network to themselves.
func (m *meshing) atOnce() int {
	if !Apart(m.Nodes) {
		return 1
	}
	return max(1, len(m.Nodes)/atOncePart)
}

// Apart reports whether each node is a machine by itself.
func Apart(nodes []MeshNode) bool {
	boots := map[string]bool{}
	for _, n := range nodes {
		boots[n.Boot] = true
	}
	return len(boots) == len(nodes) && !boots[""]
}

// rounds measures every round of every pass that is not there yet.
func (m *meshing) rounds(ctx context.Context) error {
	groups := result.Names(m.res.Mesh.Nodes, func(n result.MeshNode) string { return n.Group })
	densities := []bool{false}
	if m.Dense {
		densities = append(densities, true)
	}
	for pass := range m.Plan.Blocks {
		rounds := mesh.Rounds(groups, m.res.Mesh.Seed+uint64(pass))
		m.total = len(rounds) * m.Plan.Blocks * len(densities)
		for n, pairs := range rounds {
			for _, dense := range densities {
				m.done++
				if err := m.round(ctx, pass*len(rounds)+n, dense, pairs, groups); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// round measures one round, unless it is there.
func (m *meshing) round(ctx context.Context, number int, dense bool, pairs []mesh.Pair, groups []string) error {
	if m.has(number, dense, len(pairs)) {
		return nil
	}
	batches := [][]mesh.Pair{pairs}
	if !dense {
		batches = mesh.Sparse(pairs, groups, m.atOnce())
	}
	wanted := make([][]mesh.Window, len(batches))
	for n, batch := range batches {
		for _, pair := range batch {
			wanted[n] = append(wanted[n], mesh.Window{Pair: pair, Round: number, Dense: dense})
		}
	}
	for _, batches := range m.together(wanted) {
		if err := m.measure(ctx, batches); err != nil {
			return err
		}
	}
	return m.Save(m.res)
}

// has reports whether a round is there with all of its pairs: of one that was interrupted the
// rest is not worth more than a round.
func (m *meshing) has(number int, dense bool, pairs int) bool {
	return slices.ContainsFunc(m.res.Mesh.Rounds, func(r result.MeshRound) bool {
		return r.Round == number && r.Dense == dense && r.Check == nil && len(r.Clients) >= pairs
	})
}

// again measures suspects again until no more is wanted.
func (m *meshing) again(ctx context.Context) error {
	for {
		batches := m.mesh.Again(m.atOnce())
		if len(batches) == 0 {
			return nil
		}
		rounds := m.together(batches)
		m.total += len(rounds)
		for _, round := range rounds {
			m.done++
			if err := m.measure(ctx, round); err != nil {
				return err
			}
		}
		if err := m.Save(m.res); err != nil {
			return err
		}
	}
}

// spare waits until what was sent before is within the plan's most rate.
func (m *meshing) spare(ctx context.Context) error {
	pause := m.share.Pause(time.Now())
	if pause == 0 {
		return nil
	}
	m.Progress(Progress{Pause: pause})
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// between is how the client of a pair reaches its server.
func (m *meshing) between(ctx context.Context, of mesh.Pair) (network.Ends, error) {
	key, from, to := [2]int{of.Client, of.Server}, m.Nodes[of.Client], m.Nodes[of.Server]
	m.mu.Lock()
	ends, known := m.ends[key]
	m.mu.Unlock()
	if known {
		return ends, nil
	}
	ends, err := m.Ends(ctx, from.At, to.At)
	if err != nil {
		return ends, fmt.Errorf("%s to %s: %w", from.Name, to.Name, err)
	}
	m.mu.Lock()
	m.ends[key] = ends
	m.mu.Unlock()
	return ends, nil
}

func (m *meshing) progress() {
	now := Progress{Block: m.done, Blocks: m.total, Done: m.done, Total: m.total}
	if m.done > 0 {
		now.Left = time.Duration(float64(time.Since(m.passed)) / float64(m.done) * float64(m.total-m.done))
	}
	m.Progress(now)
}
