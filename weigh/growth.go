package weigh

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"tare/network"
	"tare/result"
	"tare/stats"
)

// series are the cells of a network that differ in one of its parameters alone.
type series struct {
	axis  string
	cells []*result.Cell
	at    []float64 // the parameter's value, of each
}

// Growths fits how the headline of each network grows with each parameter that it was weighed
// with three values of or more. What can't be fitted is left out.
func Growths(res *result.Result) []result.Growth {
	var all []result.Growth
	for _, g := range Groups(res) {
		for _, s := range seriesOf(g) {
			if growth, ok := s.growth(); ok {
				all = append(all, growth)
			}
		}
	}
	return all
}

// seriesOf are the series of a group, in the order of their first cells.
func seriesOf(g *Group) []series {
	var all []series
	where := map[string]int{}
	for _, c := range g.Cells {
		if c.Network == network.Baseline || c.Status != result.StatusOK {
			continue
		}
		own := c.Params.Settings().Map()
		for _, axis := range slices.Sorted(maps.Keys(own)) {
			at, err := strconv.ParseFloat(own[axis], 64)
			if err != nil {
				continue
			}
			key := axis + " " + c.Network + " " + string(without(own, axis))
			n, there := where[key]
			if !there {
				n = len(all)
				where[key] = n
				all = append(all, series{axis: axis})
			}
			s := &all[n]
			place, _ := slices.BinarySearch(s.at, at)
			s.at, s.cells = slices.Insert(s.at, place, at), slices.Insert(s.cells, place, c)
		}
	}
	return all
}

// without are parameters but one.
func without(params map[string]string, name string) result.Settings {
	rest := maps.Clone(params)
	delete(rest, name)
	return result.MakeSettings(rest)
}

// growth fits the series.
func (s series) growth() (result.Growth, bool) {
	first := s.cells[0]
	headline := Headline(first)
	if headline == nil {
		return result.Growth{}, false
	}
	grown, of := quantityOf(*headline), func(v float64) float64 { return v }
	if at := cmp.Or(first.Params.Number("flows"), 1); grown.Name == "rate" { // who waits for one has the next
		grown, of = result.Quantity{Name: "latency_mean", Unit: "s"}, func(v float64) float64 { return at / v }
	}
	blocks := s.whole(headline.Name, of)
	fit, ok := stats.GrowthOf(s.at, blocks)
	if !ok {
		return result.Growth{}, false
	}
	growth := result.Growth{
		Axis: s.axis, Network: first.Network, Settings: without(first.Params.Settings().Map(), s.axis),
		Path: first.Path, Workload: first.Workload, Mode: first.Mode, Metric: grown.Name, Unit: grown.Unit,
		Blocks: len(blocks), Shape: string(fit.Shape), Slope: result.Span(fit.Slope),
	}
	if fit.Shape == stats.Bent {
		beyond := result.Span(fit.Beyond)
		growth.Bend, growth.Beyond = fit.Bend, &beyond
	}
	for n, at := range s.at {
		values := make([]float64, len(blocks))
		for b := range blocks {
			values[b] = blocks[b][n]
		}
		value, _ := stats.Location(values, true)
		low, high := ends(value)
		growth.Points = append(growth.Points, result.GrowthPoint{At: at, Value: value.Value, Low: low, High: high})
	}
	return growth, true
}

// whole are the blocks that every cell has, each with the value of each cell.
func (s series) whole(metric string, of func(float64) float64) [][]float64 {
	values := map[int][]float64{}
	for _, c := range s.cells {
		for _, b := range BlocksOf(c, metric) {
			values[b.N] = append(values[b.N], of(b.Mean()))
		}
	}
	var blocks [][]float64
	for _, n := range slices.Sorted(maps.Keys(values)) {
		if len(values[n]) == len(s.cells) {
			blocks = append(blocks, values[n])
		}
	}
	return blocks
}
