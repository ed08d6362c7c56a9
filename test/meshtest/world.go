// Package meshtest simulates what windows between nodes measure, for tests and benchmarks of
// package weigh/mesh, which know then who is slow.
package meshtest

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// World is nodes, what is wrong with them, and how noisy they are. Deviations are of the natural
// logarithm; slowness is a share of the throughput that is lost.
type World struct {
	Groups []string // a label for each node, empty where it has none

	Node   float64 // deviation between nodes that nothing is wrong with
	Pair   float64 // deviation between pairs, the same in all windows of a pair
	Window float64 // deviation between windows
	Stall  float64 // the share of windows that reach a third
	Lost   float64 // the share of windows that fail

	SlowNodes     map[int]float64    // by node
	SlowLinks     map[[2]int]float64 // by pair, the lower number first
	SlowGroups    map[string]float64 // each end of a pair in such a group loses it
	SlowUplinks   map[string]float64 // each pair that leaves such a group loses it
	Oversubscribe map[string]float64 // each pair that leaves such a group loses it when all run at once
	Between       float64            // pairs between groups lose it
	Dead          map[int]bool

	seed  uint64
	nodes []float64
	asked map[[2]int]uint64 // windows of a pair so far
}

// New draws a world's nodes. What its windows measure is drawn from the seed, the pair and how
// often that was measured, whatever the order of the pairs.
func New(w World, seed uint64) *World {
	random := rand.New(rand.NewPCG(seed, 3))
	w.seed, w.asked = seed, map[[2]int]uint64{}
	for range w.Groups {
		w.nodes = append(w.nodes, w.Node*random.NormFloat64())
	}
	return &w
}

// Goodput is what a window between two nodes measures, in bit/s, or why it failed.
func (w *World) Goodput(client, server int, dense bool) (value float64, failed string) {
	for _, node := range []int{client, server} {
		if w.Dead[node] {
			return 0, fmt.Sprintf("agent at node %d: no answer in time", node)
		}
	}
	pair := [2]int{min(client, server), max(client, server)}
	name := uint64(pair[0])<<32 | uint64(pair[1])
	ofPair := w.Pair * rand.New(rand.NewPCG(w.seed, name)).NormFloat64()
	w.asked[pair]++
	random := rand.New(rand.NewPCG(w.seed^w.asked[pair]<<48, name))
	if random.Float64() < w.Lost {
		return 0, "reach the server: connection timed out"
	}
	log := math.Log(9e9) + w.nodes[client] + w.nodes[server] + ofPair + w.Window*random.NormFloat64()
	if random.Float64() < w.Stall {
		log -= math.Log(3)
	}
	lose := func(share float64) { log += math.Log1p(-share) }
	lose(w.SlowLinks[pair])
	for _, node := range pair {
		lose(w.SlowNodes[node])
	}
	a, b := w.Groups[client], w.Groups[server]
	for _, g := range []string{a, b} {
		lose(w.SlowGroups[g])
		if a != b {
			lose(w.SlowUplinks[g])
		}
		if a != b && dense {
			lose(w.Oversubscribe[g])
		}
	}
	if a != b {
		lose(w.Between)
	}
	return math.Exp(log), ""
}
