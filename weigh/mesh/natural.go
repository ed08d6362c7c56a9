package mesh

import "math"

// apart is how far pairs are from each other that nothing is wrong with, and how far windows of
// one pair, both as robust deviations. The latter shows in pairs that the rounds measured
// several times, or else in those that were repeated, whose differences repeated has. Where
// there are neither, all is taken for the windows'.
func (p *picture) apart(repeated []float64) (pairs, window float64) {
	values := map[Pair][]float64{}
	windows := 0
	for _, f := range p.usable {
		for _, o := range f.seen {
			pair := unordered(o.client, o.server)
			values[pair] = append(values[pair], o.left)
			windows = max(windows, len(values[pair]))
		}
	}
	if windows == 0 {
		return 0, 0
	}
	var middles, differences []float64
	for _, of := range values {
		if len(of) < windows {
			continue
		}
		sum := 0.0
		for n, v := range of {
			sum += v
			if n > 0 {
				differences = append(differences, (v-of[n-1])/math.Sqrt2)
			}
		}
		middles = append(middles, sum/float64(windows))
	}
	unfitted := p.usable[0].unfitted()
	all := wide(middles) * unfitted
	switch {
	case windows > 1:
		window = wide(differences) * unfitted
	case len(repeated) > 0:
		window = wide(repeated)
	default:
		return 0, all
	}
	return math.Sqrt(max(0, all*all-window*window/float64(windows))), window
}

// repeated is by how much windows of the same pair differ that measured suspects again, divided by
// the root of two: their deviation is that of a window.
func (m *Mesh) repeated(metric string) []float64 {
	last, badness := map[Pair]float64{}, badnessOf(metric)
	var apart []float64
	for n := range m.res.Rounds {
		r := &m.res.Rounds[n]
		if r.Check == nil {
			continue
		}
		for entry, value := range r.Values[metric] {
			if value <= 0 {
				continue
			}
			pair, bad := unordered(r.Clients[entry], r.Servers[entry]), badness(value)
			if before, known := last[pair]; known {
				apart = append(apart, (bad-before)/math.Sqrt2)
			}
			last[pair] = bad
		}
	}
	return apart
}
