package mesh

import (
	"slices"

	"tare/result"
)

// slowdowns is how much worse each pair is when all pairs of its round run at once, of those that a
// round measured both sparse and dense.
func slowdowns(res *result.Mesh, metric string) []observation {
	type key struct {
		pair  Pair
		round int
	}
	keyOf := func(o observation) key {
		return key{unordered(o.client, o.server), res.Rounds[o.round].Round}
	}
	sparse := map[key]float64{}
	for _, o := range observed(res, metric, false) {
		sparse[keyOf(o)] = o.left
	}
	var slower []observation
	for _, o := range observed(res, metric, true) {
		if before, both := sparse[keyOf(o)]; both {
			o.left -= before
			slower = append(slower, o)
		}
	}
	return slower
}

// addDense adds how much worse pairs are when all run at once, and names the uplinks that are
// oversubscribed: pairs between groups lose more than those within one. Where nodes have no
// groups, that all lose something is an effect, and nobody's name.
func (m *Mesh) addDense(p *picture, l layout) {
	seen := slowdowns(m.res, p.metric)
	if len(seen) == 0 {
		return
	}
	factors := slices.DeleteFunc(l.factors(len(m.res.Rounds)), func(f *factor) bool { return f.name == ofNode || f.name == ofGroup })
	f := newFit(seen, factors)
	if len(l.groups) >= 2 {
		m.addGroups(p, l, f, func(string) string { return result.MeshOversubscribed })
		return
	}
	all := f.factor(ofAll)
	e := effectOf(result.MeshOversubscribed, []string{}, p.metric, f.perRound(all, 0), all.values[0])
	m.res.Effects = append(m.res.Effects, e)
}
