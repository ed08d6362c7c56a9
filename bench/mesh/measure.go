package mesh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"tare/bench/harness"
	"tare/result"
	"tare/test/meshtest"
	"tare/weigh/mesh"
)

// figures are those of meshes of one size and slowness.
type figures struct {
	Nodes       int
	Slow        float64 // by how much some nodes are slow
	Runs        int     // meshes
	Windows     int     // of all rounds of a mesh, sparse and dense
	Again       int     // windows of all runs that measured suspects again
	Failed      int     // windows that the controller itself failed to measure, in all runs
	HeapBytes   size    // at most
	RSSBytes    size    // at most
	RoundWall   span    // of the slowest dense round
	RoundCPU    span    // of it
	JudgeCPU    span    // of judging once, at most
	WindowBytes int     // that cross the streams for one window
	ResultBytes size    // at most
	True        int     // nodes that are slow, in all runs
	Found       int     // of them, those that are named
	Wrong       int     // others that are named
}

const (
	rack = 40 // nodes
	// sparseMost and againMost are how many pairs run at the same time in a sparse round,
	// and while suspects are measured again.
	sparseMost, againMost = 64, 16
	// share of nodes that are slow, one at least.
	share = 0.01
	// Meshes of few nodes are measured several times: mostRuns, or as often as makes runNodes
	// nodes.
	mostRuns, runNodes = 30, 1000
	// margin is small, since nodes that are slow by 5 % are to be found.
	margin = 0.02
	// memoryLimit is what the runtime is asked to keep to.
	memoryLimit = 220 << 20
)

// measure measures meshes of so many nodes, each from the first round to the names.
func measure(ctx context.Context, nodes int, slow float64) (figures, error) {
	debug.SetMemoryLimit(memoryLimit)
	f := figures{Nodes: nodes, Slow: slow}
	stop := harness.HeapPeak()
	for seed := range max(1, min(mostRuns, runNodes/nodes)) {
		if err := f.mesh(ctx, worldOf(nodes, slow, uint64(seed)), uint64(seed)); err != nil {
			return f, err
		}
	}
	f.HeapBytes = size(stop())
	rss, err := harness.RSSPeak()
	f.RSSBytes = size(rss)
	return f, err
}

// worldOf is one in which some nodes are slow: racks of 40, nodes that differ by 1 %, pairs by
// 2 % and windows by 5 %, one window in a hundred stalled and one in two hundred lost.
func worldOf(nodes int, slow float64, seed uint64) *meshtest.World {
	w := meshtest.World{Node: 0.01, Pair: 0.02, Window: 0.05, Stall: 0.01, Lost: 0.005, SlowNodes: map[int]float64{}}
	for n := range nodes {
		w.Groups = append(w.Groups, fmt.Sprintf("rack%03d", n/rack))
	}
	if slow > 0 {
		for _, n := range rand.New(rand.NewPCG(seed, 4)).Perm(nodes)[:max(1, int(share*float64(nodes)))] {
			w.SlowNodes[n] = slow
		}
	}
	return meshtest.New(w, seed)
}

// mesh measures a mesh in a world.
func (f *figures) mesh(ctx context.Context, of *meshtest.World, seed uint64) (err error) {
	agents, err := open(ctx, f.Nodes, of)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, agents.Close()) }()
	res := &result.Mesh{Judged: []string{"throughput"}, Margin: margin, Seed: seed}
	for n, group := range of.Groups {
		res.Nodes = append(res.Nodes, result.MeshNode{Name: fmt.Sprintf("node-%04d", n), Group: group})
	}
	c := &controller{figures: f, agents: agents, mesh: mesh.On(res)}
	if err := c.rounds(ctx, of.Groups, seed); err != nil {
		return err
	}
	for wanted := c.mesh.Again(againMost); len(wanted) > 0; wanted = c.mesh.Again(againMost) {
		for _, batch := range wanted {
			f.Again += len(batch)
			c.batch(ctx, batch)
		}
	}
	cpu, err := cpuOf(c.mesh.Judge)
	if err != nil {
		return err
	}
	f.JudgeCPU = max(f.JudgeCPU, cpu)
	var file bytes.Buffer
	if err := (&result.Result{Schema: result.Schema, Mesh: res}).Write(&file); err != nil {
		return err
	}
	f.ResultBytes = max(f.ResultBytes, size(file.Len()))
	f.Runs++
	f.judge(res, of)
	return nil
}

// cpuOf is what this process uses of the CPUs for something.
func cpuOf(do func()) (span, error) {
	before, err := harness.CPUTime()
	if err != nil {
		return 0, err
	}
	do()
	after, err := harness.CPUTime()
	return span(after - before), err
}

// judge compares the names with the truth.
func (f *figures) judge(res *result.Mesh, of *meshtest.World) {
	f.True += len(of.SlowNodes)
	truth := map[string]bool{}
	for n := range of.SlowNodes {
		truth[res.Nodes[n].Name] = true
	}
	for _, n := range res.Named {
		if n.Kind == result.MeshNodeKind && truth[n.Of[0]] {
			f.Found++
		} else {
			f.Wrong++
		}
	}
}

// controller has agents measure what a mesh wants.
type controller struct {
	figures *figures
	agents  *fleet
	mesh    *mesh.Mesh
}

// rounds measures all rounds, sparse and dense.
func (c *controller) rounds(ctx context.Context, groups []string, seed uint64) error {
	c.figures.Windows = 0
	for n, round := range mesh.Rounds(groups, seed) {
		for _, batch := range mesh.Sparse(round, groups, sparseMost) {
			c.batch(ctx, windowsOf(batch, n, false))
		}
		if err := c.dense(ctx, windowsOf(round, n, true)); err != nil {
			return err
		}
		c.figures.Windows += 2 * len(round)
	}
	return nil
}

func windowsOf(pairs []mesh.Pair, round int, dense bool) []mesh.Window {
	windows := make([]mesh.Window, len(pairs))
	for n, p := range pairs {
		windows[n] = mesh.Window{Pair: p, Round: round, Dense: dense}
	}
	return windows
}

// dense measures a round all at once, and what that takes.
func (c *controller) dense(ctx context.Context, windows []mesh.Window) error {
	begun, moved := time.Now(), c.agents.Moved.Load()
	cpu, err := cpuOf(func() { c.batch(ctx, windows) })
	if err != nil {
		return err
	}
	if wall := span(time.Since(begun)); wall > c.figures.RoundWall {
		c.figures.RoundWall, c.figures.RoundCPU = wall, cpu
	}
	c.figures.WindowBytes = int(c.agents.Moved.Load()-moved) / max(1, len(windows))
	return nil
}

// batch measures windows at the same time. One that the world loses comes back without a value.
func (c *controller) batch(ctx context.Context, windows []mesh.Window) {
	metrics, failed := make([]map[string]float64, len(windows)), make([]string, len(windows))
	var wait sync.WaitGroup
	for n, w := range windows {
		wait.Go(func() { metrics[n], failed[n] = c.agents.window(ctx, w.Client, w.Server, w.Dense) })
	}
	wait.Wait()
	for n, w := range windows {
		if failed[n] != "" {
			c.figures.Failed++
		}
		c.mesh.Add(w, metrics[n], failed[n])
	}
}
