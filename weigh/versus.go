package weigh

import (
	"tare/catalog"
	"tare/result"
)

// ipAxis is the axis of the version of IP.
const ipAxis = "ip"

// Versions compares what a plan measured over IPv6 with what it measured over IPv4, by the same
// blocks, and in slots by the same cycles: of each network, and of its tolls. nil: the plan has one
// version.
func Versions(res *result.Result) *result.Comparison {
	return versus(res, [2]string{"IPv4", "IPv6"}, func(c *result.Cell) (key string, recent bool) {
		return cellKey(c, ipAxis), c.Params.Has(ipAxis)
	})
}

// Passengers compares each network that has a passenger with itself without it, in the same way.
// nil: no network has one.
func Passengers(res *result.Result) *result.Comparison { return absences(res, catalog.With) }

// Neighbours compares each network that has a noisy neighbour with itself without it, by the same
// blocks. nil: no network has one.
func Neighbours(res *result.Result) *result.Comparison { return absences(res, catalog.Neighbour) }

// absences compares each network that has a parameter with itself without it.
func absences(res *result.Result, param string) *result.Comparison {
	return versus(res, [2]string{"without", "with"}, func(c *result.Cell) (key string, recent bool) {
		own := c.Params.Settings()
		return c.Network + " " + string(own.With(param, "")) + " in " + c.Group, own.Map()[param] != ""
	})
}

// versus compares cells of a result that have the same key: those that are recent with the one
// that is not, with which they take turns. nil: no two have the same.
func versus(res *result.Result, names [2]string, of func(*result.Cell) (key string, recent bool)) *result.Comparison {
	c := result.Comparison{
		Old: result.Compared{File: names[0]}, New: result.Compared{File: names[1]}, Paired: true, Judged: result.JudgedByValue,
		Differ: []result.Difference{}, Cells: []result.ComparedCell{}, Held: []result.Held{}, Unmet: []result.Unmet{},
	}
	side := sideOf(res)
	p := pairing{old: side, recent: side, paired: true}
	before := map[string]*result.Cell{}
	for n := range res.Cells {
		cell := &res.Cells[n]
		if key, recent := of(cell); !recent && cell.Status == result.StatusOK {
			before[key] = cell
		}
	}
	for n := range res.Cells {
		cell := &res.Cells[n]
		key, recent := of(cell)
		if was := before[key]; was != nil && recent && cell.Status == result.StatusOK {
			compared := p.compare(was, cell)
			compared.Params = was.Params
			c.Cells = append(c.Cells, compared)
		}
	}
	if len(c.Cells) == 0 {
		return nil
	}
	if res.Environment.Emulated() {
		unjudged(c.Cells)
	}
	return &c
}
