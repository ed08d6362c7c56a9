package mesh

import "math"

// naturalOfLinks is the robust deviation between pairs that nothing is wrong with, without the noise of windows.
// That shows in pairs that the rounds measured several times, or else in those that were
// repeated: differences between windows of a pair, as repeated gives them.
func (p *picture) naturalOfLinks(repeated []float64) float64 {
	windows := 0
	for _, e := range p.links {
		windows = max(windows, len(e.values))
	}
	if windows == 0 {
		return 0
	}
	var middles, apart []float64
	for _, e := range p.links {
		if len(e.values) < windows {
			continue
		}
		sum := 0.0
		for n, v := range e.values {
			sum += v
			if n > 0 {
				apart = append(apart, (v-e.values[n-1])/math.Sqrt2)
			}
		}
		middles = append(middles, sum/float64(windows))
	}
	pairs, noise := wide(middles)*p.usable[0].unfitted(), wide(apart)*p.usable[0].unfitted()
	if windows == 1 {
		noise = wide(repeated)
	}
	return math.Sqrt(max(0, pairs*pairs-noise*noise/float64(windows)))
}

// repeated is by how much windows of the same pair differ that measured suspects again, divided by
// the root of two: their deviation is that of a window.
func (m *Mesh) repeated(metric string) []float64 {
	last := map[Pair]float64{}
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
			pair, bad := unordered(r.Clients[entry], r.Servers[entry]), badness(metric, value)
			if before, known := last[pair]; known {
				apart = append(apart, (bad-before)/math.Sqrt2)
			}
			last[pair] = bad
		}
	}
	return apart
}
