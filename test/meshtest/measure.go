package meshtest

import (
	"tare/result"
	"tare/weigh/mesh"
)

// Measure measures a world as a controller does: all rounds, sparse and dense as asked, then the
// suspects until none is to be measured again. name names the nodes.
func Measure(w *World, name func(n int) string, seed uint64, dense ...bool) *result.Mesh {
	res := &result.Mesh{Judged: []string{"throughput"}, Margin: mesh.DefaultMargin, Seed: seed}
	for n, group := range w.Groups {
		res.Nodes = append(res.Nodes, result.MeshNode{Name: name(n), Group: group})
	}
	m := mesh.On(res)
	for n, round := range mesh.Rounds(w.Groups, seed) {
		for _, d := range dense {
			for _, pair := range round {
				w.add(m, mesh.Window{Pair: pair, Round: n, Dense: d})
			}
		}
	}
	for wanted := m.Again(1); len(wanted) > 0; wanted = m.Again(1) {
		for _, batch := range wanted {
			for _, window := range batch {
				w.add(m, window)
			}
		}
	}
	m.Judge()
	return res
}

// add adds what a window measures.
func (w *World) add(m *mesh.Mesh, window mesh.Window) {
	value, failed := w.Goodput(window.Client, window.Server, window.Dense)
	m.Add(window, map[string]float64{"throughput": value}, failed)
}
