package mesh

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tare/result"
	"tare/stats"
)

// trial is a suspect and what measuring it again gave.
type trial struct {
	suspect
	blocks  []*result.MeshRound
	effects []float64 // of the whole ones
	slow    bool      // it exceeds the margin, and not by chance
	unusual bool      // others of its kind do not differ by as much where nothing is wrong
}

// addSuspects adds the suspects of a metric, and names those that are confirmed.
func (m *Mesh) addSuspects(p *picture, l layout) {
	pairs, _ := p.apart(m.repeated(p.metric))
	margin := marginOf(p.metric, m.res.Margin)
	for _, kind := range []string{result.MeshNodeKind, result.MeshLink} {
		var trials []*trial
		var chances []float64 // of being no worse than the margin
		for _, s := range p.suspects {
			if s.kind == kind {
				blocks := m.blocksOf(s.nodes)
				t := &trial{suspect: s, blocks: blocks, effects: p.again(l, blocks)}
				trials, chances = append(trials, t), append(chances, stats.SignedRankBeyond(t.effects, margin))
			}
		}
		for n, slow := range counting(chances, len(chances)) {
			trials[n].slow = slow
		}
		tests := len(p.nodes)
		if kind == result.MeshLink {
			tests = len(p.links)
		}
		findUnusual(trials, tests, func(t *trial) float64 {
			few := 1 / float64(t.partners())
			if kind == result.MeshLink {
				return pairs * chanceOf(len(p.links)) * math.Sqrt(1+2*few)
			}
			return math.Hypot(p.natural*math.Sqrt(1+few), pairs*math.Sqrt(2*few))
		})
		for _, t := range trials {
			m.addTrial(p, t)
		}
	}
}

// counting reports which of some chances, of so many tests, are too small to be chance: where
// all are, one is reported at the rate of wrong at most (Benjamini and Hochberg, 1995).
func counting(chances []float64, tests int) []bool {
	most := bound(chances, tests, wrong)
	counts := make([]bool, len(chances))
	for n, chance := range chances {
		counts[n] = chance <= most
	}
	return counts
}

// ofInterval is how many standard errors half an interval of 95 % is.
const ofInterval = 1.96

// findUnusual holds the trials against all of their kind, so many: apart is how far they are
// from each other where nothing is wrong, what is special about the partners included.
func findUnusual(trials []*trial, tests int, apart func(*trial) float64) {
	chances := make([]float64, len(trials))
	for n, t := range trials {
		chances[n] = 1
		if at, ok := stats.HodgesLehmann(t.effects); ok {
			err := (at.High - at.Low) / (2 * ofInterval)
			chances[n] = above(at.Value / max(math.Hypot(apart(t), err), still))
		}
	}
	for n, unusual := range counting(chances, tests) {
		trials[n].unusual = unusual
	}
}

// partners is how many nodes measured the suspect again.
func (t *trial) partners() int {
	partners := map[int]bool{}
	for _, r := range t.blocks {
		for _, node := range r.Check.Partners {
			partners[node] = true
		}
	}
	return len(partners)
}

// addTrial adds a suspect with its outcome, and its name if that is confirmed.
func (m *Mesh) addTrial(p *picture, t *trial) {
	s := result.MeshSuspect{
		Kind: t.kind, Of: m.names(t.nodes), Metric: t.metric, Score: sixDigits(t.score), Blocks: len(t.effects),
	}
	at, whole := stats.HodgesLehmann(t.effects)
	if len(t.effects) > 0 {
		value := sixDigits(toll(t.metric, at.Value))
		s.Value = &value
	}
	if whole {
		s.Low, s.High = ends(t.metric, at)
	}
	s.Outcome, s.Reason = m.outcome(t)
	m.res.Suspects = append(m.res.Suspects, s)
	if s.Outcome != result.MeshConfirmed {
		return
	}
	m.res.Named = append(m.res.Named, result.MeshNamed{
		Kind: s.Kind, Of: s.Of, Metric: s.Metric, Value: *s.Value, Low: *s.Low, High: *s.High, Evidence: p.evidence(t),
	})
}

// outcome is what became of a suspicion, and why.
func (m *Mesh) outcome(t *trial) (outcome, reason string) {
	known := len(t.effects) > 0
	worse := known && stats.Median(t.effects) > marginOf(t.metric, m.res.Margin)
	switch {
	case len(t.blocks) == 0:
		return result.MeshUndecided, "it was not measured again"
	case t.slow && t.unusual:
		return result.MeshConfirmed, ""
	case known && len(t.effects) >= firstBlocks-1 && !worse:
		return result.MeshCleared, "measured again, it is no worse than the margin"
	case len(t.effects) < stats.MinBlocks:
		return result.MeshUndecided, fmt.Sprintf("only %d of the %d blocks that measured it again are whole", len(t.effects), len(t.blocks))
	case t.slow:
		return result.MeshCleared, "others differ by as much where nothing is wrong"
	}
	return result.MeshUndecided, "measured again, it may be worse than the margin, or not"
}

// evidence is the numbers behind a name.
func (p *picture) evidence(t *trial) []result.Evidence {
	const first, again = "the rounds of all pairs", "blocks with three partners, alone"
	e := []result.Evidence{
		{Name: "effect among all pairs", Value: sixDigits(toll(t.metric, t.value)), Source: first},
		{Name: "robust z of that effect", Value: sixDigits(t.score), Source: first},
		{Name: "windows of that effect", Value: len(t.values), Source: first},
	}
	if t.kind == result.MeshNodeKind {
		e = append(e, p.directions(t.nodes[0])...)
	}
	worse := 0
	for _, effect := range t.effects {
		if effect > 0 {
			worse++
		}
	}
	return append(e,
		result.Evidence{Name: "blocks", Value: len(t.effects), Source: again},
		result.Evidence{Name: "blocks in which it was worse", Value: worse, Source: again},
		result.Evidence{Name: "partners", Value: t.partners(), Source: again},
		result.Evidence{Name: "effect in the best block", Value: sixDigits(toll(t.metric, slices.MinFunc(t.effects, cmp.Compare))), Source: again},
	)
}

// directions is the effect of a node as the client and as the server.
func (p *picture) directions(node int) []result.Evidence {
	var as [2][]float64
	for _, f := range p.usable {
		effects := f.factor(ofNode)
		for _, n := range effects.members[node] {
			o := f.seen[n]
			end := 0
			if o.server == node {
				end = 1
			}
			as[end] = append(as[end], effects.values[node]+o.left)
		}
	}
	var e []result.Evidence
	for end, name := range []string{"effect as the client", "effect as the server"} {
		if len(as[end]) > 0 {
			e = append(e, result.Evidence{Name: name, Value: sixDigits(toll(p.metric, stats.Median(as[end]))), Source: "the rounds of all pairs"})
		}
	}
	return e
}
