package stats

import (
	"math"
	"slices"
)

// Shape is how a quantity grows with another.
type Shape string

// The shapes, the simplest first.
const (
	Constant    Shape = "constant"
	Logarithmic Shape = "logarithmic" // by so much with each doubling
	Linear      Shape = "linear"
	Bent        Shape = "bent" // linear, with another slope from one of the points on
)

// Growth is how a quantity grows with another. Slope is per unit of that one; of a
// logarithmic growth, per doubling. Of a bent one it is the slope up to Bend, and Beyond that
// from there on. Of a constant one it is the slope that the blocks leave possible.
type Growth struct {
	Shape  Shape
	Slope  Interval
	Bend   float64
	Beyond Interval
}

// leastGrowth and leastBent are how many points a growth needs, and one that bends.
const (
	leastGrowth = 3
	leastBent   = 5
)

// GrowthOf fits what each block measured at the same points x, which rise. A block's level
// counts for nothing, so that what it has in common is no growth. Slopes are the block's own by
// least squares, and their interval that of HodgesLehmann over the blocks. A shape is chosen by
// what it foretells of a block of which it knows nothing: the simplest that does so no worse
// than the best, by the interval of the difference over the blocks.
//
// ok is false below three points or MinBlocks blocks, where points do not rise, and where a
// value is not finite.
func GrowthOf(x []float64, blocks [][]float64) (g Growth, ok bool) {
	if len(x) < leastGrowth || len(blocks) < MinBlocks || slices.ContainsFunc(x, notFinite) || slices.ContainsFunc(blocks, func(b []float64) bool {
		return len(b) != len(x) || slices.ContainsFunc(b, notFinite)
	}) {
		return Growth{}, false
	}
	for n := range x[1:] {
		if x[n+1] <= x[n] {
			return Growth{}, false
		}
	}
	curves := make([][]float64, len(blocks))
	for n, b := range blocks {
		curves[n] = centred(b)
	}
	models := modelsOf(x)
	errs := make([][]float64, len(models))
	best, least := 0, math.Inf(1)
	for n, m := range models {
		errs[n] = m.foretells(curves)
		if all := sum(errs[n]); all < least {
			best, least = n, all
		}
	}
	chosen := models[best]
	for n, m := range models[:best] {
		if m.complexity() < chosen.complexity() && !worse(errs[n], errs[best]) {
			chosen = m
			break
		}
	}
	return chosen.growth(x, curves), true
}

// worse reports whether some errors are above others by more than chance, block by block.
func worse(errs, than []float64) bool {
	differences := make([]float64, len(errs))
	for n := range errs {
		differences[n] = errs[n] - than[n]
	}
	at, ok := HodgesLehmann(differences)
	return ok && at.Low > 0
}

// model is a shape with what it grows by at each point, centred: one column, or two of a bend.
type model struct {
	shape   Shape
	bend    float64
	columns [][]float64
}

func (m model) complexity() int { return len(m.columns) }

// modelsOf are the shapes that points can distinguish, the simplest first. A quantity that
// begins at 0 doubles from 1 on.
func modelsOf(x []float64) []model {
	logs, offset := make([]float64, len(x)), max(0, 1-x[0])
	for n, v := range x {
		logs[n] = math.Log2(v + offset)
	}
	models := []model{{shape: Constant}, {shape: Logarithmic, columns: [][]float64{centred(logs)}}, {shape: Linear, columns: [][]float64{centred(x)}}}
	if len(x) < leastBent {
		return models
	}
	for _, bend := range x[1 : len(x)-1] {
		before, beyond := make([]float64, len(x)), make([]float64, len(x))
		for n, v := range x {
			before[n], beyond[n] = min(v, bend), max(0, v-bend)
		}
		models = append(models, model{Bent, bend, [][]float64{centred(before), centred(beyond)}})
	}
	return models
}

// foretells is, for each curve, the squared error of the model that was fitted to all others.
func (m model) foretells(curves [][]float64) []float64 {
	errs := make([]float64, len(curves))
	for out := range curves {
		mean := make([]float64, len(curves[out]))
		for n, c := range curves {
			for i, v := range c {
				if n != out {
					mean[i] += v / float64(len(curves)-1)
				}
			}
		}
		slopes := m.fit(mean)
		for i, v := range curves[out] {
			for n, c := range m.columns {
				v -= slopes[n] * c[i]
			}
			errs[out] += v * v
		}
	}
	return errs
}

// fit is the slope of each column by least squares.
func (m model) fit(curve []float64) []float64 {
	switch len(m.columns) {
	case 0:
		return nil
	case 1:
		return []float64{product(m.columns[0], curve) / product(m.columns[0], m.columns[0])}
	}
	a, b := m.columns[0], m.columns[1]
	aa, ab, bb := product(a, a), product(a, b), product(b, b)
	ay, by := product(a, curve), product(b, curve)
	of := aa*bb - ab*ab
	return []float64{(ay*bb - by*ab) / of, (by*aa - ay*ab) / of}
}

// growth is the model with the intervals of its slopes; of a constant one those of a line.
func (m model) growth(x []float64, curves [][]float64) Growth {
	fitted := m
	if m.shape == Constant {
		fitted = model{columns: [][]float64{centred(x)}}
	}
	slopes := make([][]float64, len(fitted.columns))
	for _, c := range curves {
		for n, slope := range fitted.fit(c) {
			slopes[n] = append(slopes[n], slope)
		}
	}
	g := Growth{Shape: m.shape, Bend: m.bend}
	g.Slope, _ = HodgesLehmann(slopes[0])
	if len(slopes) > 1 {
		g.Beyond, _ = HodgesLehmann(slopes[1])
	}
	return g
}

// centred is values less their mean.
func centred(values []float64) []float64 {
	mean := sum(values) / float64(len(values))
	out := make([]float64, len(values))
	for n, v := range values {
		out[n] = v - mean
	}
	return out
}

func product(a, b []float64) float64 {
	sum := 0.0
	for n := range a {
		sum += a[n] * b[n]
	}
	return sum
}
