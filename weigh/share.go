package weigh

import (
	"math"
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// Part is one step from the baseline up to a network: what a toll has more than the
// same toll one step below.
type Part struct {
	Cell    *result.Cell // above the step
	Below   *result.Cell // below it: the baseline in the end
	Axis    string       // in which the two differ that are of one network, a parameter of added too, or Untouched; empty: below is another network
	Between []string     // networks between the two, which the run has no toll of
	Points  float64      // of the toll: those of all parts add up to it
	Share   stats.Interval
	Whole   bool // whether the share has an interval
}

// Own reports whether the part is what the network itself adds to another.
func (p Part) Own() bool { return p.Axis == "" && len(p.Between) == 0 }

// Untouched is the parameter of a cell whose network was set up anew next to a lab that
// somebody may have changed.
const Untouched = "untouched"

// fullNIC is the model of the interface by which networks cost least.
const fullNIC = "full"

// Parts divides a cell's toll on a metric by what the same run measured besides: the
// same network in an untouched lab, the same without what was added to it, the same with
// an interface that does more, then each network that it is built upon, down to
// the baseline. all are the groups of the result.
// Nil: the cell has no toll, or no baseline.
func Parts(all []*Group, c *result.Cell, metric string) []Part {
	whole, known := tollOf(c, metric)
	if !known || whole == 0 {
		return nil
	}
	var parts []Part
	own := perBlock(Of(all, c), c, metric)
	for above := c; above.Network != catalog.Baseline; {
		var below *result.Cell
		var axis string
		var between []string
		if below = untouched(all, above); below != nil {
			axis = Untouched
		} else if below, axis = Alone(all, above); below != nil {
			// What was added is the first part.
		} else if below = fuller(all, above); below != nil {
			axis = "nic"
		} else if below, between = rungBelow(all, above, metric); below == nil {
			return nil
		}
		if below == above {
			return nil
		}
		high, known := tollOf(above, metric)
		low, knownBelow := tollOf(below, metric)
		if !known || !knownBelow {
			return nil
		}
		p := Part{Cell: above, Below: below, Axis: axis, Between: between, Points: high - low}
		p.Share, p.Whole = stats.Share((high-low)/whole, whole, less(perBlock(Of(all, above), above, metric), perBlock(Of(all, below), below, metric)), own)
		parts = append(parts, p)
		above = below
	}
	return parts
}

// tollOf is a cell's toll on a metric. The baseline has none.
func tollOf(c *result.Cell, metric string) (toll float64, known bool) {
	if c.Network == catalog.Baseline {
		return 0, true
	}
	if m := Metric(c, metric); m != nil && m.Toll != nil {
		return m.Toll.Value, true
	}
	return 0, false
}

// untouched is the cell of the same network in an untouched lab; nil: there is none.
func untouched(all []*Group, c *result.Cell) *result.Cell {
	if c.Params.Has(Untouched) {
		return nil
	}
	settings := c.Params.Settings().With(Untouched, "true")
	for _, other := range Of(all, c).Cells {
		if other.Network == c.Network && other.Status == result.StatusOK && other.Params.Settings() == settings {
			return other
		}
	}
	return nil
}

// added are the parameters by which a plan adds something to a network that is no part of it.
func added() []string { return []string{catalog.Neighbour, catalog.With, catalog.Rules} }

// Alone is the cell of the same network without one thing that was added to it, and by which
// parameter; nil: it is alone already, or the run did not measure it so.
func Alone(all []*Group, c *result.Cell) (alone *result.Cell, param string) {
	own := c.Params.Settings()
	for _, param := range added() {
		if !has(own, param) {
			continue
		}
		for _, other := range Of(all, c).Cells {
			theirs := other.Params.Settings()
			if other.Network == c.Network && other.Status == result.StatusOK && !has(theirs, param) && theirs.With(param, "") == own.With(param, "") {
				return other, param
			}
		}
	}
	return nil, ""
}

// has reports whether something was added by a parameter; none of it is nothing.
func has(s result.Settings, param string) bool {
	value := s.Map()[param]
	return value != "" && value != "0"
}

// fuller is the cell of the same network that was measured with an interface that does
// more; nil: there is none.
func fuller(all []*Group, c *result.Cell) *result.Cell {
	own := Of(all, c)
	if c.Params.Text("nic") == fullNIC || own.OwnLink(c) > 0 { // a link has its model of the interface
		return nil
	}
	for _, g := range all {
		if g != own && g.Params.Text("nic") == fullNIC && g.Without("nic") == own.Without("nic") && g.Baseline != nil {
			return g.Counterpart(c, c.Network)
		}
	}
	return nil
}

// rungBelow is the cell of the network below on the ladder; nil: there is none. between
// are those that it skips.
func rungBelow(all []*Group, c *result.Cell, metric string) (below *result.Cell, between []string) {
	g := Of(all, c)
	ladder := NewLadder([]*Group{g}, []string{metric}, all)
	rung := ladder.Rung(RungKey{Network: c.Network, Settings: c.Params.Settings()})
	if rung == nil || rung.Parent == nil || rung.Parent.Cells[0] == nil {
		return nil, nil
	}
	below = rung.Parent.Cells[0]
	return below, skipped(c.Network, below.Network, g.Path)
}

// skipped are the networks between two on a ladder, from the upper one down, that cost
// something on the path: each that has it, or else the one that does the same there.
func skipped(upper, lower, path string) (between []string) {
	serves := func(name string) bool {
		n, _ := catalog.FindNetwork(name)
		return n.Serves(path) || n.Serves(catalog.Unpublished(path))
	}
	for name := parentOf(upper); name != lower && name != catalog.Baseline; name = parentOf(name) {
		n, _ := catalog.FindNetwork(name)
		switch across := n.Across; {
		case across == lower:
			return between
		case serves(name), across == "":
			between = append(between, name)
		case across != upper && serves(across) && !slices.Contains(between, across):
			between = append(between, across)
		}
	}
	return between
}

// perBlock are a cell's tolls on a metric, by block. Those of the baseline are none.
func perBlock(g *Group, c *result.Cell, metric string) map[int]float64 {
	tolls := map[int]float64{}
	if g.Baseline == nil {
		return tolls
	}
	q, _ := result.QuantityOf(metric)
	baseline := BlocksOf(g.Baseline, metric)
	for _, block := range BlocksOf(c, metric) {
		n, both := baseline.find(block.N)
		if !both {
			continue
		}
		if c == g.Baseline {
			tolls[block.N] = 0
		} else if ratio, whole := block.against(baseline[n]).LogRatio(); whole {
			tolls[block.N] = Direction(q).Of(ratio)
		}
	}
	return tolls
}

// WholeBlocks is in how many blocks each cell that was measured has a toll on the headline
// of its workload: those blocks give the parts of a toll their intervals.
func WholeBlocks(all []*Group) int {
	var whole map[int]float64
	for _, g := range all {
		for _, c := range g.Cells {
			if c.Status != result.StatusOK || c == g.Baseline {
				continue
			}
			kind, _ := catalog.FindWorkload(c.Workload)
			tolls := perBlock(g, c, kind.Headline)
			if whole != nil {
				tolls = less(whole, tolls)
			}
			whole = tolls
		}
	}
	return len(whole)
}

// less is what some tolls have more than others, in the blocks that have both.
func less(above, below map[int]float64) map[int]float64 {
	rest := map[int]float64{}
	for block, toll := range above {
		if lower, both := below[block]; both && !math.IsNaN(toll-lower) {
			rest[block] = toll - lower
		}
	}
	return rest
}
