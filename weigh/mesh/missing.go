package mesh

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tare/result"
)

// record is how often a node or link was to be measured, and was.
type record struct {
	asked, measured int
	reasons         map[string]int
}

func (r *record) count(failed string) {
	r.asked++
	if failed == "" {
		r.measured++
		return
	}
	if r.reasons == nil {
		r.reasons = map[string]int{}
	}
	r.reasons[failed]++
}

// reason is the most frequent one.
func (r *record) reason() string {
	reasons := slices.Sorted(maps.Keys(r.reasons))
	if len(reasons) == 0 {
		return fmt.Sprintf("it takes %d other nodes to judge one, and it was measured with fewer", leastPartners)
	}
	return slices.MaxFunc(reasons, func(a, b string) int { return cmp.Compare(r.reasons[a], r.reasons[b]) })
}

// addUnmeasured adds the nodes that were measured with too few others, and the links between
// two other nodes that were to be measured and never were.
func (m *Mesh) addUnmeasured() {
	nodes := make([]record, len(m.res.Nodes))
	partners := make([]map[int]bool, len(m.res.Nodes))
	links := map[Pair]*record{}
	for n := range m.res.Rounds {
		r := &m.res.Rounds[n]
		failed := failuresOf(r)
		for entry := range r.Clients {
			pair := unordered(r.Clients[entry], r.Servers[entry])
			if links[pair] == nil {
				links[pair] = &record{}
			}
			links[pair].count(failed[entry])
			for _, end := range [][2]int{{pair.Client, pair.Server}, {pair.Server, pair.Client}} {
				nodes[end[0]].count(failed[entry])
				if partners[end[0]] == nil {
					partners[end[0]] = map[int]bool{}
				}
				if failed[entry] == "" {
					partners[end[0]][end[1]] = true
				}
			}
		}
	}
	m.res.Unmeasured = []result.MeshUnmeasured{}
	add := func(of []int, r *record) {
		u := result.MeshUnmeasured{Of: m.names(of), Asked: r.asked, Measured: r.measured, Reason: r.reason()}
		m.res.Unmeasured = append(m.res.Unmeasured, u)
	}
	lacks := func(node int) bool { return len(partners[node]) < leastPartners }
	for node := range nodes {
		if lacks(node) {
			add([]int{node}, &nodes[node])
		}
	}
	inOrder := slices.SortedFunc(maps.Keys(links), func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Server, b.Server))
	})
	for _, pair := range inOrder {
		if r := links[pair]; r.measured == 0 && !lacks(pair.Client) && !lacks(pair.Server) {
			add([]int{pair.Client, pair.Server}, r)
		}
	}
}

// failuresOf is why each entry of a round was not measured; empty: it was.
func failuresOf(r *result.MeshRound) []string {
	failed := make([]string, len(r.Clients))
	for _, f := range r.Failures {
		for _, entry := range f.Pairs {
			failed[entry] = f.Reason
		}
	}
	return failed
}
