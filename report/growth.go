package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tare/result"
	"tare/stats"
)

// growths prints how metrics grow with the parameters that were swept.
func (p *page) growths(res *result.Result) {
	for n, g := range res.Growths {
		if n == 0 || g.Axis != res.Growths[n-1].Axis {
			p.title(p.say("grows", "axis", g.Axis))
		}
		p.item("  ", p.growth(g))
	}
}

// markdownGrowths is the same for a pull request.
func markdownGrowths(b *strings.Builder, w words, res *result.Result) {
	for n, g := range res.Growths {
		if n == 0 || g.Axis != res.Growths[n-1].Axis {
			fmt.Fprintf(b, "\n### %s\n\n", markdownText(w.say("grows", "axis", g.Axis)))
		}
		fmt.Fprintf(b, "- %s\n", markdownText(w.growth(g)))
	}
}

// growth is one sentence: what so many more add, and between which values it was measured.
func (w words) growth(g result.Growth) string {
	points := g.Points
	scale := scaleFor(g.Unit, points[0].Value, points[len(points)-1].Value)
	first, from := scale.withUnit(points[0].Value), atText(g.Axis, points[0].At)
	last, to := scale.withUnit(points[len(points)-1].Value), atText(g.Axis, points[len(points)-1].At)
	name := strings.TrimSpace(g.Network + " " + strings.ReplaceAll(string(g.Settings), "&", " "))
	cell, metric := fmt.Sprintf("%s, %s %s", name, g.Path, g.Workload), w.heading(g.Metric)
	step := perStep(points[len(points)-1].At)
	per, change := atText(g.Axis, step), spanText(g.Slope, step, g.Unit)
	switch stats.Shape(g.Shape) {
	case stats.Constant:
		most := max(math.Abs(g.Slope.Low), math.Abs(g.Slope.High)) * step
		return w.say("grows_constant", "cell", cell, "metric", metric, "axis", g.Axis, "per", per,
			"most", differenceScale(g.Unit, most).withUnit(most), "first", first)
	case stats.Logarithmic:
		return w.say("grows_logarithmic", "cell", cell, "metric", metric, "axis", g.Axis,
			"change", spanText(g.Slope, 1, g.Unit), "first", first, "from", from, "last", last, "to", to)
	case stats.Bent:
		return w.say("grows_bent", "cell", cell, "metric", metric, "axis", g.Axis, "per", per, "change", change,
			"bend", atText(g.Axis, g.Bend), "beyond", spanText(*g.Beyond, step, g.Unit), "first", first, "from", from, "last", last, "to", to)
	}
	return w.say("grows_linear", "cell", cell, "metric", metric, "axis", g.Axis, "per", per, "change", change,
		"first", first, "from", from, "last", last, "to", to)
}

// perStep is the step that a slope is named for: a power of ten, a tenth to a hundredth of
// what was swept, and 1 at least.
func perStep(most float64) float64 {
	return math.Max(1, math.Pow(10, math.Floor(math.Log10(math.Max(most, 1)))-1))
}

// atText is a value of what was swept: a number of things, or a rate.
func atText(axis string, n float64) string {
	if rateUnit(axis) != "" {
		return result.BitsPerSecond(n).String()
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// spanText is so many times a value with its interval, as a difference.
func spanText(s result.Span, times float64, unit string) string {
	value, low, high := s.Value*times, s.Low*times, s.High*times
	in := differenceScale(unit, value)
	number, ends := in.difference(value, &low, &high)
	return strings.TrimSpace(number + " " + in.unit + " " + ends)
}
