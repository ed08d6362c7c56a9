package mesh_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
	"tare/test/meshtest"
)

// run measures a world whose nodes are n0, n1 and so on.
func run(w *meshtest.World, seed uint64, dense ...bool) *result.Mesh {
	return meshtest.Measure(w, func(n int) string { return fmt.Sprintf("n%d", n) }, seed, dense...)
}

// both densities.
var both = []bool{false, true}

// names are who is named: "node n3", "link n1 n2".
func names(res *result.Mesh) []string {
	all := []string{}
	for _, n := range res.Named {
		all = append(all, strings.Join(append([]string{n.Kind}, n.Of...), " "))
	}
	slices.Sort(all)
	return all
}

// racks labels nodes in groups of a size; 0: without labels.
func racks(nodes, size int) []string {
	groups := make([]string, nodes)
	for n := range groups {
		if size > 0 {
			groups[n] = fmt.Sprintf("rack%d", n/size)
		}
	}
	return groups
}

// noisy are worlds in which nothing is wrong.
func noisy() map[string]meshtest.World {
	return map[string]meshtest.World{
		"5 % between windows":             {Groups: racks(10, 0), Window: 0.05, Stall: 0.02, Lost: 0.02},
		"10 % between windows":            {Groups: racks(10, 0), Window: 0.1, Stall: 0.02, Lost: 0.02},
		"5 % between pairs":               {Groups: racks(10, 0), Pair: 0.05, Window: 0.03},
		"10 % between pairs":              {Groups: racks(10, 0), Pair: 0.1, Window: 0.03, Stall: 0.02},
		"nodes that differ by 2 %":        {Groups: racks(10, 0), Node: 0.02, Window: 0.02},
		"stalls and losses":               {Groups: racks(10, 0), Window: 0.05, Stall: 0.1, Lost: 0.1},
		"a dead node":                     {Groups: racks(10, 0), Window: 0.05, Stall: 0.02, Dead: map[int]bool{4: true}},
		"two racks":                       {Groups: racks(10, 5), Node: 0.01, Window: 0.05, Stall: 0.02},
		"four racks":                      {Groups: racks(32, 8), Node: 0.01, Pair: 0.03, Window: 0.05, Stall: 0.02},
		"hardly any noise":                {Groups: racks(10, 0), Window: 0.002},
		"four nodes":                      {Groups: racks(4, 0), Window: 0.05, Stall: 0.02},
		"a hundred nodes, one dead":       {Groups: racks(100, 0), Node: 0.02, Pair: 0.03, Window: 0.05, Stall: 0.02, Dead: map[int]bool{9: true}},
		"a hundred nodes in racks of ten": {Groups: racks(100, 10), Node: 0.01, Pair: 0.03, Window: 0.05, Stall: 0.02},
	}
}

// Of a few meshes one may be wrong where of many one in a hundred may be.
func TestCleanMeshesNameNobody(t *testing.T)     { nameNobody(t, 300, 1) }
func TestDeepCleanMeshesNameNobody(t *testing.T) { nameNobody(t, 1500, 0) }

// nameNobody measures meshes that have so many nodes together.
func nameNobody(t *testing.T, nodes, allowed int) {
	t.Helper()
	for _, about := range slices.Sorted(maps.Keys(noisy())) {
		world := noisy()[about]
		seeds := nodes / len(world.Groups)
		t.Run(about, func(t *testing.T) {
			wrong := 0
			for seed := range seeds {
				if named := names(run(meshtest.New(world, uint64(seed)), uint64(seed), both...)); len(named) > 0 {
					wrong++
					t.Logf("seed %d: %v", seed, named)
				}
			}
			labtest.AtMost(t, "share of meshes that name somebody", float64(wrong-allowed)/float64(seeds), 0.01)
		})
	}
}

// faulty are worlds in which something is wrong, and who is to be named.
func faulty() []fault {
	slow3 := map[int]float64{3: 0.2}
	return []fault{
		{"a node of ten", meshtest.World{Groups: racks(10, 0), Window: 0.05, Stall: 0.02, Lost: 0.02, SlowNodes: slow3}, "node n3", 0.99},
		{"a node of ten, noisy", meshtest.World{Groups: racks(10, 0), Window: 0.1, Stall: 0.02, Lost: 0.02, SlowNodes: slow3}, "node n3", 0.95},
		{"a node of ten unlike nodes and pairs", meshtest.World{Groups: racks(10, 0), Node: 0.02, Pair: 0.03, Window: 0.03, SlowNodes: slow3}, "node n3", 0.97},
		{"a node of ten, another is dead", meshtest.World{Groups: racks(10, 0), Window: 0.05, Stall: 0.02, Dead: map[int]bool{4: true}, SlowNodes: slow3}, "node n3", 0.99},
		{"a node of five", meshtest.World{Groups: racks(5, 0), Window: 0.05, SlowNodes: map[int]float64{3: 0.4}}, "node n3", 0.9},
		{"a link of ten nodes", meshtest.World{Groups: racks(10, 0), Window: 0.05, Stall: 0.02, Lost: 0.02, SlowLinks: map[[2]int]float64{{2, 7}: 0.3}}, "link n2 n7", 0.99},
		{"a link of ten nodes, noisy", meshtest.World{Groups: racks(10, 0), Window: 0.1, Stall: 0.02, Lost: 0.02, SlowLinks: map[[2]int]float64{{2, 7}: 0.5}}, "link n2 n7", 0.99},
		{"a node and a link", meshtest.World{Groups: racks(10, 0), Window: 0.03, SlowNodes: slow3, SlowLinks: map[[2]int]float64{{2, 7}: 0.3}}, "link n2 n7, node n3", 0.95},
		{"a node of two racks", meshtest.World{Groups: racks(10, 5), Window: 0.05, Between: 0.2, SlowNodes: slow3}, "between rack0 rack1, node n3", 0.95},
		{"a rack of two nodes behind a slow link", meshtest.World{Groups: racks(10, 8), Window: 0.05, Between: 0.3}, "between rack0 rack1", 0.95},
		{"a node that is a rack by itself", meshtest.World{Groups: racks(41, 10), Window: 0.05, SlowNodes: map[int]float64{40: 0.3}}, "node n40", 0.95},
		{"a rack", meshtest.World{Groups: racks(32, 8), Node: 0.01, Window: 0.05, SlowGroups: map[string]float64{"rack1": 0.2}}, "group rack1", 0.95},
		{"an uplink", meshtest.World{Groups: racks(40, 8), Node: 0.01, Window: 0.05, SlowUplinks: map[string]float64{"rack1": 0.3}}, "uplink rack1", 0.95},
		{"all links between racks", meshtest.World{Groups: racks(40, 8), Node: 0.01, Window: 0.05, Between: 0.3}, "between", 0.95},
		{"an uplink that is oversubscribed", meshtest.World{Groups: racks(40, 8), Node: 0.01, Window: 0.05, Oversubscribe: map[string]float64{"rack1": 0.4}}, "oversubscribed rack1", 0.95},
		{"uplinks of two racks", meshtest.World{Groups: racks(10, 5), Window: 0.05, Oversubscribe: map[string]float64{"rack0": 0.4}}, "oversubscribed rack0 rack1", 0.95},
		{"a rack of many", meshtest.World{Groups: racks(200, 20), Node: 0.01, Window: 0.05, SlowGroups: map[string]float64{"rack1": 0.2}}, "group rack1", 0.95},
		{"an uplink of many", meshtest.World{Groups: racks(200, 20), Node: 0.01, Window: 0.05, SlowUplinks: map[string]float64{"rack1": 0.3}}, "uplink rack1", 0.95},
	}
}

type fault struct {
	about string
	world meshtest.World
	named string
	least float64 // share of runs that name exactly that
}

func TestWhatIsSlowIsNamedAndNobodyElse(t *testing.T)     { nameWhatIsSlow(t, 100, 3, 1) }
func TestDeepWhatIsSlowIsNamedAndNobodyElse(t *testing.T) { nameWhatIsSlow(t, 500, 20, 0) }

// nameWhatIsSlow measures meshes that have so many nodes together, some of each kind at least.
func nameWhatIsSlow(t *testing.T, nodes, least, allowed int) {
	t.Helper()
	for _, f := range faulty() {
		seeds := max(least, nodes/len(f.world.Groups))
		t.Run(f.about, func(t *testing.T) {
			right := 0
			for seed := range seeds {
				named := strings.Join(names(run(meshtest.New(f.world, uint64(seed)), uint64(seed), both...)), ", ")
				if named == f.named {
					right++
				} else {
					t.Logf("seed %d: %s", seed, named)
				}
			}
			labtest.AtLeast(t, "share of runs that name it and nobody else", float64(right+allowed)/float64(seeds), f.least)
		})
	}
}
