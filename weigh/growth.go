package weigh

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// series are the cells of a network that differ in one of its parameters alone.
type series struct {
	axis  string
	cells []*result.Cell
	at    []float64 // the parameter's value, of each
}

// Growths fits how the headline of each network grows with each of its parameters that it was
// weighed with three values of or more, and with the axis that the plan swept. What can't be
// fitted is left out.
func Growths(res *result.Result) []result.Growth {
	swept := collection{where: map[string]int{}}
	for _, g := range Groups(res) {
		for _, c := range g.Cells {
			if c.Status != result.StatusOK {
				continue
			}
			swept.addSettings(g, c)
			_, own := c.Params.Settings().Map()[res.Plan.Sweep] // added already
			if at, is := c.Params[res.Plan.Sweep]; is && !own {
				swept.add(res.Plan.Sweep, result.Number(at), c, c.Network+" "+c.Path+" "+c.Workload+" "+c.Mode+" "+unlike(c.Params, res.Plan.Sweep))
			}
		}
	}
	var all []result.Growth
	for _, s := range swept.all {
		if growth, ok := s.growth(); ok {
			all = append(all, growth)
		}
	}
	return all
}

// collection is series by what their cells have in common, in the order of their first cells.
type collection struct {
	all   []series
	where map[string]int
}

// add adds a cell to the series of what it shares with others.
func (c *collection) add(axis string, at float64, cell *result.Cell, shared string) {
	key := axis + " " + shared
	n, there := c.where[key]
	if !there {
		n = len(c.all)
		c.where[key] = n
		c.all = append(c.all, series{axis: axis})
	}
	s := &c.all[n]
	place, _ := slices.BinarySearch(s.at, at)
	s.at, s.cells = slices.Insert(s.at, place, at), slices.Insert(s.cells, place, cell)
}

// addSettings adds a cell to the series of each parameter of its network that is a number.
func (c *collection) addSettings(g *Group, cell *result.Cell) {
	own := cell.Params.Settings().Map()
	if cell.Network == catalog.Baseline {
		return
	}
	for _, axis := range slices.Sorted(maps.Keys(own)) {
		if at, err := strconv.ParseFloat(own[axis], 64); err == nil {
			c.add(axis, at, cell, g.Key+" "+cell.Network+" "+string(without(own, axis)))
		}
	}
}

// unlike is what distinguishes a cell's parameters but for one, and for how long it was measured.
func unlike(params result.Params, axis string) string {
	rest := maps.Clone(params)
	for name := range params {
		if a, known := result.AxisOf(name); name == axis || known && a.Of == result.OfTime {
			delete(rest, name)
		}
	}
	return rest.Key()
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
	_, swept := result.AxisOf(s.axis)
	if at := cmp.Or(first.Params.Number("flows"), 1); grown.Name == "rate" && !swept { // who waits for one has the next
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
