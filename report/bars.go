package report

import (
	"math"
	"strings"

	"tare/catalog"
	"tare/result"
	"tare/weigh"
)

// barWidth is the length of the longest bar, in characters.
const barWidth = 32

// barScale is the largest toll that a report draws a bar of, by which way its metric is better.
// What a network takes of a throughput and what it adds to a time are two kinds of toll; those of
// a kind have one scale in all tables, so that a longer bar is a larger toll.
type barScale map[result.Better]float64

func barScaleOf(groups []*weigh.Group) barScale {
	most := barScale{}
	for _, g := range groups {
		if !inPercent(g) {
			continue
		}
		for _, m := range headlineTolls(g) {
			if result.Finite(m.Toll.Value) && m.Toll.Value > 0 {
				most[m.Better] = max(most[m.Better], m.Toll.Value)
			}
		}
	}
	return most
}

// inPercent reports whether the tolls of a group say something in percent, which they do not
// where the baseline is a thing of another kind.
func inPercent(g *weigh.Group) bool {
	kind, _ := catalog.FindWorkload(g.Workload)
	return !kind.Unlike
}

// headlineTolls are the metrics of a group that have a toll in its table.
func headlineTolls(g *weigh.Group) (all []*result.Metric) {
	name := headline(g)
	for _, c := range g.Cells {
		if c.Status != result.StatusOK || c.Network == catalog.Baseline {
			continue
		}
		if m := weigh.Metric(c, name); m != nil && m.Toll != nil {
			all = append(all, m)
		}
	}
	return all
}

// bar draws a toll, pale where it is inconclusive; what is below zero has none. Both kinds are
// whole characters, since a pale one has no parts.
func (s barScale) bar(m *result.Metric) string {
	value, most := m.Toll.Value, s[m.Better]
	if !(value > 0) || !(most > 0) {
		return ""
	}
	mark := "░"
	if decided(m) {
		mark = "█"
	}
	return strings.Repeat(mark, int(math.Round(barWidth*min(1, value/most))))
}

// bars says what the bars of some tables mean, empty where there are none.
func (w words) bars(s barScale, groups []*weigh.Group) string {
	var scales []string
	own := barScaleOf(groups)
	if own[result.Higher] > 0 {
		scales = append(scales, w.say("bars_higher", "value", percent(s[result.Higher])))
	}
	if own[result.Lower] > 0 {
		scales = append(scales, w.say("bars_lower", "value", percent(s[result.Lower])))
	}
	if len(scales) == 0 {
		return ""
	}
	return w.say("bars_are", "scales", w.join(scales...))
}

// axisKind is what has one axis of tolls on a page; own is the group where it shares none.
type axisKind struct {
	better result.Better
	own    *weigh.Group
}

// axisEnds are the ends of each group's axis of tolls: those of a kind have the same ones.
func axisEnds(groups []*weigh.Group) map[*weigh.Group][2]float64 {
	kinds, ends := map[*weigh.Group]axisKind{}, map[axisKind][2]float64{}
	for _, g := range groups {
		for _, m := range headlineTolls(g) {
			kind := axisKind{better: m.Better}
			if !inPercent(g) {
				kind.own = g
			}
			kinds[g] = kind
			for _, v := range onAxis(m) {
				if at := ends[kind]; result.Finite(v) {
					ends[kind] = [2]float64{min(at[0], v), max(at[1], v)}
				}
			}
		}
	}
	all := map[*weigh.Group][2]float64{}
	for g, kind := range kinds {
		all[g] = outwards(ends[kind])
	}
	return all
}

// mostMargin is what an axis has room for of a margin.
const mostMargin = 0.05

// onAxis are the numbers that an axis of tolls must have room for. An inconclusive interval and the
// margin of a noisy machine are cut where they are longer, since they would shrink all bars.
func onAxis(m *result.Metric) []float64 {
	margin := min(m.Toll.Margin, mostMargin)
	values := []float64{m.Toll.Value, margin, -margin}
	if t := m.Toll; decided(m) && t.Low != nil && t.High != nil {
		values = append(values, *t.Low, *t.High)
	}
	if p := m.TollParts; p != nil {
		values = append(values, p.Framing, p.Processing, p.Framing+p.Processing)
	}
	if l := m.Layer4; l != nil {
		values = append(values, l.Predicted, l.Rest, l.Predicted+l.Rest)
	}
	return values
}

// outwards moves the upper end of an axis to a multiple of the step between its labels. The lower
// end has no label.
func outwards(ends [2]float64) [2]float64 {
	low, high := ends[0], ends[1]
	for range 3 { // a longer axis may have a longer step
		step := stepOf(high - low)
		if !result.Finite(step) || !(step > 0) {
			return [2]float64{}
		}
		high = math.Ceil(high/step) * step
	}
	if !result.Finite(high) {
		return [2]float64{}
	}
	return [2]float64{low, high}
}

// stepOf is the step between the labels of an axis of a length, about a fifth of it, as ECharts
// chooses it.
func stepOf(length float64) float64 {
	power := math.Pow10(int(math.Floor(math.Log10(length / 5))))
	for _, s := range []struct{ below, step float64 }{{1.5, 1}, {2.5, 2}, {4, 3}, {7, 5}} {
		if length/5 < s.below*power {
			return s.step * power
		}
	}
	return 10 * power
}
