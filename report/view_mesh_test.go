package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tare/result"
	"tare/test/labtest"
	"tare/test/meshtest"
	"tare/weigh/mesh"
)

// simulated is a mesh of a world, measured as a controller does.
func simulated(w *meshtest.World, seed uint64) *result.Result {
	m := meshtest.Measure(w, func(n int) string { return fmt.Sprintf("node-%d", n+1) }, seed, false, true)
	return &result.Result{
		Schema: result.Schema, ID: "20261126-120000", Started: "2026-11-26T12:00:00Z", Finished: "2026-11-26T12:01:00Z", Tool: result.Tool{Version: "0.1.0"},
		Plan: result.Plan{Name: "mesh", Blocks: 1, Workloads: []result.WorkloadPlan{{Name: "tcp_stream"}}}, Mesh: m,
	}
}

// twelve is a mesh of twelve nodes, of which one is slow, one link is, and one was not reached.
// All others sent to each at once: node-6 then received a third less.
func twelve() *result.Result {
	w := meshtest.World{
		Groups: make([]string, 12), Window: 0.03, SlowNodes: map[int]float64{2: 0.3}, SlowLinks: map[[2]int]float64{{4, 7}: 0.5}, Dead: map[int]bool{9: true},
	}
	res := simulated(meshtest.New(w, 1), 1)
	res.Mesh.Incast = &result.MeshIncast{Servers: 1}
	on := mesh.On(res.Mesh)
	for n, round := range mesh.Incast(on.Answering(), 1, 1) {
		for _, pair := range round {
			value := 9e9 / float64(len(round))
			if pair.Server == 5 {
				value /= 1.5
			}
			on.AddIncast(n, pair, map[string]float64{"throughput": value}, "")
		}
	}
	on.Judge()
	return res
}

// hundreds is a mesh of 600 nodes in racks, of which six are slow.
func hundreds() *result.Result {
	w := meshtest.World{Node: 0.01, Pair: 0.02, Window: 0.05, Lost: 0.01, SlowNodes: map[int]float64{}}
	for n := range 600 {
		w.Groups = append(w.Groups, fmt.Sprintf("rack%d", n/40+1))
		if n%100 == 7 {
			w.SlowNodes[n] = 0.3
		}
	}
	return simulated(meshtest.New(w, 1), 1)
}

func TestPageOfAMeshHoldsItsNumbers(t *testing.T) {
	res := twelve()
	page := pageOf(t, res)
	var views []view
	if err := json.Unmarshal([]byte(script(t, page, "view")), &views); err != nil {
		t.Fatal(err)
	}
	v := views[0].Mesh
	labtest.Equal(t, "title", views[0].Titles[English], "tare mesh: 12 nodes, "+fmt.Sprint(windowsOf(res.Mesh))+" windows of tcp_stream")
	labtest.Equal(t, "named", len(v.Named), 2)
	all := v.Named[0].Texts[English] + v.Named[1].Texts[English]
	labtest.Contains(t, "who is named", all, "Node node-3 is worse than the others: throughput +")
	labtest.Contains(t, "who is named", all, "Link node-5 - node-8 is worse than the others: throughput +")
	labtest.Contains(t, "not measured", strings.Join(v.Unmeasured[English], "; "), "node-10: 0 of 22 windows")
	of := v.Metrics[0]
	labtest.Equal(t, "pairs", len(of.Pairs.A), 66)
	labtest.Equal(t, "the worst pair", fmt.Sprint(of.Pairs.A[0], of.Pairs.B[0]), "4 7")
	labtest.Between(t, "by how much it is worse", of.Pairs.Worse[0], 0.45, 0.55)
	labtest.Equal(t, "windows of the last pair, of a node that was not reached", of.Pairs.N[65], 0)
	labtest.Equal(t, "the worst node", of.Order[0], 2)
	labtest.Equal(t, "the node without an effect", of.Order[11], 9)
	labtest.Equal(t, "rounds, sparse and dense", len(of.Rounds), 22)
	labtest.Equal(t, "effects of nodes", len(of.Effects[0].Rows), 11)
	labtest.Equal(t, "nodes that served many", len(of.Incast.Rows), 11)
	labtest.Equal(t, "the worst of them", of.Incast.Rows[0].Of, "node-6")
	labtest.Between(t, "by how much", of.Incast.Rows[0].Value, 0.3, 0.37)
	labtest.Equal(t, "the worst of them", of.Effects[0].Rows[0].Labels[English], "Node node-3")
}
