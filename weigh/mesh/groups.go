package mesh

import (
	"maps"
	"math"
	"slices"

	"tare/result"
	"tare/stats"
)

// leastRounds is in how many rounds, or windows, an effect of a group must be seen.
const leastRounds = stats.MinBlocks

// offset is how many standard errors the mean of a group's nodes may be off where nothing is wrong.
const offset = 3

// claim is what may be said of groups, with a value for each round.
type claim struct {
	kind   string
	of     []string
	values []float64
	value  float64
	margin float64
	seen   []result.Evidence
}

// kindOf is what an effect of groups is called.
func kindOf(factor string) string {
	switch factor {
	case ofGroup:
		return result.MeshGroup
	case ofUplink:
		return result.MeshUplink
	}
	return result.MeshBetween
}

// addGroups adds the effects of groups, and names those that are slow. All their pairs are
// evidence, so that none is measured again.
func (m *Mesh) addGroups(p *picture, l layout, f *fit, kind func(factor string) string) {
	for _, name := range []string{ofGroup, ofBetween, ofUplink, ofCell} {
		factor := f.factor(name)
		var claims []claim
		for class, known := range factor.known {
			if !known {
				continue
			}
			c := claim{kind: kind(name), of: l.named(name, class), values: f.perRound(factor, class), value: factor.values[class]}
			c.margin = m.marginOfGroup(p, l, c.of)
			c.seen = []result.Evidence{
				{Name: "windows", Value: factor.counting[class], Source: "the rounds of all pairs"},
				{Name: "values", Value: len(c.values), Source: "medians of rounds, or of windows"},
				{Name: "margin", Value: sixDigits(toll(p.metric, c.margin)), Source: "the declared one, or the spread of nodes"},
			}
			claims = append(claims, c)
		}
		m.addClaims(p.metric, claims)
	}
}

// named are the groups of a class.
func (l layout) named(factor string, class int) []string {
	switch factor {
	case ofBetween:
		return []string{}
	case ofCell:
		return []string{l.groups[class/len(l.groups)].name, l.groups[class%len(l.groups)].name}
	}
	return []string{l.groups[class].name}
}

// mostValues bounds how many values an effect of groups has: an interval takes memory that
// grows with their square.
const mostValues = 60

// perRound is the effect of a class in each round, or, where few rounds have it, in each
// window, or in parts of them where they are many.
func (f *fit) perRound(factor *factor, class int) []float64 {
	rounds, parts := map[int][]float64{}, map[int][]float64{}
	values := f.partial(factor, class)
	n := 0
	for _, member := range factor.members[class] {
		if o := f.seen[member]; factor.by == nil || factor.by(o) {
			rounds[o.round] = append(rounds[o.round], values[n])
			parts[n%mostValues] = append(parts[n%mostValues], values[n])
			n++
		}
	}
	if len(rounds) < leastRounds {
		rounds = parts
	}
	var medians []float64
	for _, round := range slices.Sorted(maps.Keys(rounds)) {
		medians = append(medians, stats.Median(rounds[round]))
	}
	return medians
}

// marginOfGroup is the margin for what is said of groups: the declared one, or what the
// difference between their nodes may do to a mean of them, whichever is more.
func (m *Mesh) marginOfGroup(p *picture, l layout, of []string) float64 {
	least := math.Inf(1)
	for _, g := range l.groups {
		if slices.Contains(of, g.name) {
			least = min(least, float64(g.nodes))
		}
	}
	return max(marginOf(p.metric, m.res.Margin), offset*middleError*p.natural/math.Sqrt(least))
}

// addClaims adds effects of one kind, and names those that exceed their margins.
func (m *Mesh) addClaims(metric string, claims []claim) {
	var chances []float64
	for _, c := range claims {
		chances = append(chances, stats.StudentBeyond(c.values, c.margin))
		m.res.Effects = append(m.res.Effects, effectOf(c.kind, c.of, metric, c.values, c.value))
	}
	for n, slow := range counting(chances, len(chances)) {
		if c := claims[n]; slow {
			at, _ := stats.HodgesLehmann(c.values)
			low, high := ends(metric, at)
			m.res.Named = append(m.res.Named, result.MeshNamed{
				Kind: c.kind, Of: c.of, Metric: metric, Value: sixDigits(toll(metric, at.Value)), Low: *low, High: *high, Evidence: c.seen,
			})
		}
	}
}
