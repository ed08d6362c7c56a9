package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tare/network"
	"tare/result"
	"tare/stats"
)

// Meeting leaves the networks of a plan that meet what is asked of them, and
// says of the others what they lack. The baseline stays: it is what tolls are
// reckoned against.
func Meeting(p result.Plan, demands []string) (result.Plan, error) {
	for _, name := range demands {
		if _, known := network.FindDemand(name); !known {
			return p, Unknown("need", name, Demands())
		}
	}
	p.Needs = demands
	left := 0
	for _, planned := range slices.Clone(p.Networks) {
		n, _ := network.Find(planned.Name)
		if n.Name == network.Baseline {
			continue
		}
		if lacks, meets := n.Meets(demands); !meets {
			p = Skip(p, n.Name, "does not meet "+lacks)
		} else {
			left++
		}
	}
	if left == 0 {
		return p, &InputError{"no network meets all of that: " + whoMeets(demands)}
	}
	return p, nil
}

// Demands names what may be asked of a network.
func Demands() []string {
	var names []string
	for _, d := range network.Demands() {
		names = append(names, d.Name)
	}
	return names
}

// whoMeets lists for each demand the networks that meet it.
func whoMeets(demands []string) string {
	text := ""
	for _, name := range demands {
		d, _ := network.FindDemand(name)
		var found []string
		for _, n := range network.All() {
			if n.Name != network.Baseline && d.Met(n) {
				found = append(found, n.Name)
			}
		}
		if text != "" {
			text += "; "
		}
		text += name + " is met by " + strings.Join(found, ", ")
	}
	return text
}

// Recommend ranks the networks of a result that meet what its plan asks of them,
// by their tolls, on each path under each workload: a network opens a new place
// where it is worse than the first of the one before by more than the margin, in
// the blocks that both stood in. A stand-in has no place.
func Recommend(res *result.Result) []result.Ranking {
	var rankings []result.Ranking
	for n := range res.Cells {
		base := &res.Cells[n]
		if base.Network != network.Baseline || base.Status != result.StatusOK {
			continue
		}
		r := result.Ranking{
			Path: base.Path, Workload: base.Workload, Mode: base.Mode, Params: base.Params,
			Ranked: []result.Ranked{}, Unranked: []result.Unqualified{},
		}
		var list []*result.Cell
		for m := range res.Cells {
			cell := &res.Cells[m]
			if cell.Network == network.Baseline || !sameGroup(res, cell, base) {
				continue
			}
			if reason := unqualified(cell, res.Plan.Needs); reason != "" {
				r.Unranked = append(r.Unranked, result.Unqualified{Network: cell.Network, Reason: reason})
				continue
			}
			list = append(list, cell)
		}
		if len(list)+len(r.Unranked) == 0 {
			continue
		}
		r.Metric = gatedMetric(base)
		r.Ranked = places(list, r.Metric)
		rankings = append(rankings, r)
	}
	return rankings
}

// sameGroup tells whether a cell was weighed, or was to be, against a baseline.
func sameGroup(res *result.Result, cell, base *result.Cell) bool {
	if cell.Status == result.StatusOK {
		return baselineOf(res, cell) == base
	}
	return cell.Path == base.Path && cell.Workload == base.Workload && (cell.Mode == "" || cell.Mode == base.Mode) && cell.Params["nic"] == base.Params["nic"]
}

// unqualified is why a cell has no place; empty: it has one.
func unqualified(cell *result.Cell, demands []string) string {
	n, known := network.Find(cell.Network)
	lacks, meets := n.Meets(demands)
	switch {
	case cell.Status != result.StatusOK:
		return cell.Status + ": " + cell.Reason
	case known && !meets:
		return "does not meet " + lacks
	case cell.Fidelity == network.StandIn:
		return "a stand-in here, whose toll is not the real one's"
	}
	return ""
}

// gatedMetric is what a cell is ranked by: the median of a round trip or request
// where there is one, else its rate.
func gatedMetric(cell *result.Cell) string {
	for _, name := range []string{"throughput", "rtt_p50", "latency_p50", "rate"} {
		if slices.ContainsFunc(cell.Metrics, func(m result.Metric) bool { return m.Name == name }) {
			return name
		}
	}
	return ""
}

// places ranks cells by their toll on a metric.
func places(list []*result.Cell, name string) []result.Ranked {
	type weighed struct {
		cell   *result.Cell
		metric result.Metric
	}
	var all []weighed
	for _, cell := range list {
		at := slices.IndexFunc(cell.Metrics, func(m result.Metric) bool { return m.Name == name && m.Toll != nil })
		if at >= 0 {
			all = append(all, weighed{cell, cell.Metrics[at]})
		}
	}
	slices.SortStableFunc(all, func(a, b weighed) int { return cmp.Compare(a.metric.Toll.Value, b.metric.Toll.Value) })
	ranked := []result.Ranked{}
	place, first := 1, 0 // of the place that is being filled
	for n, w := range all {
		r := result.Ranked{Place: place, Network: w.cell.Network, Params: networkSettings(w.cell), Toll: *w.metric.Toll}
		if n > 0 {
			r.Behind, r.Than = behind(w.cell, all[first].cell, w.metric), all[first].cell.Network
			if r.Behind != nil && r.Behind.Verdict == string(stats.Slower) {
				place, first = place+1, n
				r.Place = place
			}
		}
		ranked = append(ranked, r)
	}
	return ranked
}

// behind is by how much one cell is worse than another, in the blocks of both.
func behind(cell, than *result.Cell, m result.Metric) *result.Change {
	q := result.Quantity{Name: m.Name, Unit: m.Unit, Better: m.Better}
	before, after := valuesOf(than, q), valuesOf(cell, q)
	margins := stats.Margins{Declared: stats.DeclaredMargin, AA: around(m.Toll.Margin)}
	c := pairing{paired: true}.change(q, margins, before, after)
	if c == nil || math.IsNaN(c.Value) {
		return nil
	}
	return c
}

// networkSettings are the network's own parameters of a cell.
func networkSettings(cell *result.Cell) result.Settings {
	set := map[string]string{}
	for _, p := range network.Params() {
		if value, given := cell.Params[p.Name]; given {
			set[p.Name] = fmt.Sprint(value)
		}
	}
	return result.MakeSettings(set)
}
