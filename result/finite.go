package result

import (
	"maps"
	"math"
	"slices"
)

// keepFinite drops what JSON cannot represent, NaN and the infinities, and what
// depends on it: a metric or a toll without its value, and a whole series, since the
// steps after a gap would be read at the wrong times.
func (res *Result) keepFinite() {
	res.Noise.AA = slices.DeleteFunc(res.Noise.AA, func(aa AA) bool { return !Finite(aa.Low, aa.High) })
	res.Findings = findingsOfNumbers(res.Findings)
	for i := range res.Cells {
		res.Cells[i].keepFinite()
	}
	for i := range res.Contrasts {
		res.Contrasts[i].keepFinite()
	}
	if res.Kernels != nil {
		for i := range res.Kernels.Twin {
			res.Kernels.Twin[i].keepFinite()
		}
	}
}

func (c *Cell) keepFinite() {
	c.Findings = findingsOfNumbers(c.Findings)
	c.Metrics = slices.DeleteFunc(c.Metrics, func(m Metric) bool { return !Finite(m.Value) })
	for n := range c.Metrics {
		c.Metrics[n].keepFinite()
	}
	for _, s := range c.Samples {
		maps.DeleteFunc(s.Metrics, func(_ string, v float64) bool { return !Finite(v) })
		maps.DeleteFunc(s.Counters, func(_ string, v float64) bool { return !Finite(v) })
		maps.DeleteFunc(s.Series, func(_ string, points []float64) bool { return !Finite(points...) })
	}
}

func (m *Metric) keepFinite() {
	dropInterval(&m.Low, &m.High)
	if m.Baseline != nil && !Finite(m.Baseline.Value) {
		m.Baseline, m.Toll = nil, nil
	}
	if m.Ceiling != nil && !Finite(m.Ceiling.Value, m.Ceiling.Ratio) {
		m.Ceiling = nil
	}
	if m.Toll != nil && !Finite(m.Toll.Value, m.Toll.Margin, m.Toll.Delta.Value) {
		m.Toll = nil
	}
	if m.Toll == nil || m.TollParts != nil && !Finite(m.TollParts.Framing, m.TollParts.Processing) {
		m.TollParts = nil
	}
	if m.Toll != nil {
		dropInterval(&m.Toll.Low, &m.Toll.High)
		dropInterval(&m.Toll.Delta.Low, &m.Toll.Delta.High)
	}
}

// dropInterval drops both ends where one is not finite.
func dropInterval(low, high **float64) {
	if *low != nil && !Finite(**low) || *high != nil && !Finite(**high) {
		*low, *high = nil, nil
	}
}

// findingsOfNumbers drops the evidence that is not finite, and the findings
// whose confidence or share is not.
func findingsOfNumbers(findings []Finding) []Finding {
	findings = slices.DeleteFunc(findings, func(f Finding) bool { return !Finite(f.Confidence, f.Share) })
	for i := range findings {
		dropInterval(&findings[i].Low, &findings[i].High)
		findings[i].Evidence = slices.DeleteFunc(findings[i].Evidence, func(e Evidence) bool {
			v, isFloat := e.Value.(float64)
			return isFloat && !Finite(v)
		})
	}
	return findings
}

// Finite reports whether JSON can represent all the values.
func Finite(values ...float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}
