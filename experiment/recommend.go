package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tare/network"
	"tare/result"
	"tare/stats"
)

// Meeting leaves the networks of a plan that meet what it needs of them, and says
// of the others what they lack. The baseline stays: it is what tolls are reckoned
// against.
func Meeting(p result.Plan) (result.Plan, error) {
	for _, name := range p.Needs {
		if _, known := network.FindDemand(name); !known {
			return p, Unknown("need", name, Demands())
		}
	}
	left := 0
	for _, planned := range slices.Clone(p.Networks) {
		n, _ := network.Find(planned.Name)
		if n.Name == network.Baseline {
			continue
		}
		if lacks, meets := n.Meets(p.Needs); !meets {
			p = Skip(p, n.Name, "does not meet "+lacks)
		} else {
			left++
		}
	}
	if len(p.Needs) > 0 && left == 0 {
		return p, &InputError{"no network meets all of that: " + whoMeets(p.Needs)}
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
	var texts []string
	for _, name := range demands {
		d, _ := network.FindDemand(name)
		var found []string
		for _, n := range network.All() {
			if n.Name != network.Baseline && d.Met(n) {
				found = append(found, n.Name)
			}
		}
		texts = append(texts, name+" is met by "+strings.Join(found, ", "))
	}
	return strings.Join(texts, "; ")
}

// Recommend ranks the networks of a result that meet what its plan asks of them,
// by their tolls, on each path under each workload: a network opens a new place
// where it is worse than the first of the one before by more than the margin, in
// the blocks that both stood in. A stand-in has no place.
func Recommend(res *result.Result) []result.Ranking {
	var rankings []result.Ranking
	weighed := baselinesOf(res)
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
			if cell.Network == network.Baseline || !sameGroup(weighed, cell, base) {
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
		r.Metric = rankedBy(base)
		r.Ranked = places(list, r.Metric)
		rankings = append(rankings, r)
	}
	return rankings
}

// sameGroup tells whether a cell was weighed, or was to be, against a baseline.
func sameGroup(weighed baselines, cell, base *result.Cell) bool {
	if cell.Status == result.StatusOK {
		return weighed.of(cell) == base
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

// rankedBy is the metric by which the networks beside a baseline are ranked: that
// of its workload, else the first that networks are told apart by.
func rankedBy(base *result.Cell) string {
	if m, has := headline(*base); has && result.Judged(m.Name) {
		return m.Name
	}
	for _, m := range base.Metrics {
		if result.Judged(m.Name) {
			return m.Name
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
	q := quantityOf(m)
	return changeOf(q, m.Toll.Margin, valuesOf(than, q), valuesOf(cell, q), true)
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
