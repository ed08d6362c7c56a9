package mesh

import (
	"strconv"

	"tare/result"
	"tare/stats"
)

// wrong is how often a mesh in which nothing exceeds the margin names somebody, for each metric
// and kind at most. That nodes and links must be unusual too, and groups exceed a wider margin,
// makes it rarer.
const wrong = 0.0025

// Judge fills in what the rounds amount to: effects, suspects, who is named, and what was
// not measured. It may be called at any time, and again.
func (m *Mesh) Judge() {
	m.res.Effects, m.res.Suspects, m.res.Named = []result.MeshEffect{}, []result.MeshSuspect{}, []result.MeshNamed{}
	l, pictures := m.look()
	for _, p := range pictures {
		m.addNodeEffects(p)
		m.addSuspects(p, l)
		m.addGroups(p, l, p.fits[0], kindOf)
		m.addDense(p, l)
	}
	m.addIncast()
	m.addUnmeasured()
}

// addNodeEffects adds how much worse each node is than the middle.
func (m *Mesh) addNodeEffects(p *picture) {
	for _, e := range p.nodes {
		m.res.Effects = append(m.res.Effects, effectOf(result.MeshNodeKind, m.names(e.nodes), p.metric, e.values, e.value))
	}
}

// names are those of nodes.
func (m *Mesh) names(nodes []int) []string {
	return result.Names(nodes, func(node int) string { return m.res.Nodes[node].Name })
}

// effectOf is an effect from its values, with their interval.
func effectOf(kind string, of []string, metric string, values []float64, value float64) result.MeshEffect {
	e := result.MeshEffect{Kind: kind, Of: of, Metric: metric, N: len(values), Value: sixDigits(toll(metric, value))}
	if at, ok := stats.HodgesLehmann(values); ok {
		e.Value = sixDigits(toll(metric, at.Value)) // which its interval is of
		e.Low, e.High = ends(metric, at)
	}
	return e
}

func ends(metric string, at stats.Interval) (low, high *float64) {
	l, h := sixDigits(toll(metric, at.Low)), sixDigits(toll(metric, at.High))
	return &l, &h
}

// digits is with how many significant digits values are kept.
const digits = 6

// sixDigits rounds a value, so that a result of many nodes is not made of digits that mean
// nothing.
func sixDigits(value float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', digits, 64), 64)
	if err != nil {
		return value
	}
	return rounded
}
