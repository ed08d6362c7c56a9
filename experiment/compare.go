package experiment

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"tare/network"
	"tare/result"
	"tare/stats"
)

// Gates are the limits of a comparison, as ratios; nil: none.
type Gates struct {
	MaxToll       *float64 // of a network in the newer result
	MaxRegression *float64 // of what both measured
}

// Compare sets a result beside an older one, cell by cell: of the same network,
// path, workload, mode and parameters, but for the MTU and congestion control,
// which it names where they differ. Two files of one experiment are paired by
// block. Where the machines differ what counts is what a network costs beside
// its own host.
func Compare(old, recent *result.Result, gates Gates) result.Comparison {
	c := result.Comparison{
		Old: compared(old), New: compared(recent), Paired: old.ID != "" && old.ID == recent.ID, Judged: result.JudgedByValue,
		Differ: machines(old, recent), Cells: []result.ComparedCell{}, Single: []result.SingleCell{}, Unmet: []result.Unmet{},
	}
	if len(c.Differ) > 0 {
		c.Judged = result.JudgedByToll
	}
	matched := matches(old, recent)
	p := pairing{baselinesOf(old), baselinesOf(recent), c.Paired}
	for n := range recent.Cells {
		cell := &recent.Cells[n]
		if before := matched[cell]; before != nil && cell.Status == result.StatusOK && before.Status == result.StatusOK {
			c.Cells = append(c.Cells, p.compare(before, cell))
		}
	}
	c.Single = single(old, recent, matched)
	c.Unmet = append(heavy(recent, gates), regressions(c, gates)...)
	return c
}

func compared(r *result.Result) result.Compared {
	return result.Compared{ID: r.ID, Started: r.Started, Version: r.Tool.Version}
}

// machines are the differences of the environments and of how the plans set
// them up.
func machines(old, recent *result.Result) []result.Difference {
	found := []result.Difference{}
	add := func(name, a, b string) {
		if a != b {
			found = append(found, result.Difference{Name: name, Old: a, New: b})
		}
	}
	a, b := old.Environment, recent.Environment
	add("kernel", a.Kernel, b.Kernel)
	add("CPU", a.CPUModel, b.CPUModel)
	add("CPUs", fmt.Sprint(a.CPUs), fmt.Sprint(b.CPUs))
	add("virtualisation", a.Virtualisation, b.Virtualisation)
	add("clock", a.Clocksource, b.Clocksource)
	add("privilege", a.Privilege, b.Privilege)
	for _, part := range partsOf(a.Parts, b.Parts) {
		add(part, a.Parts[part], b.Parts[part])
	}
	return found
}

// partsOf are the real parts that both have, in order.
func partsOf(a, b map[string]string) []string {
	names := slices.Sorted(maps.Keys(a))
	return slices.DeleteFunc(names, func(name string) bool { _, both := b[name]; return !both })
}

// loose are the parameters that may differ between cells that are compared;
// those that only say how long it was measured are not even named.
func loose() []string { return []string{"mtu", "cc"} }

func unnamed() []string { return []string{"duration", "warmup"} }

// identity is what two cells must share.
func identity(cell *result.Cell, without ...string) string {
	params := result.Params{}
	for name, value := range cell.Params {
		if !slices.Contains(without, name) && !slices.Contains(unnamed(), name) {
			params[name] = value
		}
	}
	return strings.Join([]string{cell.Network, cell.Path, cell.Workload, cell.Mode, params.Key()}, "\n")
}

// matches finds for each newer cell the older one: alike in all, else the only
// one that is alike but for what may differ.
func matches(old, recent *result.Result) map[*result.Cell]*result.Cell {
	found, taken := map[*result.Cell]*result.Cell{}, map[*result.Cell]bool{}
	for _, without := range [][]string{nil, loose()} {
		alike := map[string][]*result.Cell{}
		for n := range old.Cells {
			if before := &old.Cells[n]; !taken[before] {
				key := identity(before, without...)
				alike[key] = append(alike[key], before)
			}
		}
		for n := range recent.Cells {
			cell := &recent.Cells[n]
			if found[cell] != nil {
				continue
			}
			if same := alike[identity(cell, without...)]; len(same) == 1 && !taken[same[0]] {
				found[cell], taken[same[0]] = same[0], true
			}
		}
	}
	return found
}

// pairing is the baselines of two results and whether their blocks are the same.
type pairing struct {
	old, recent baselines
	paired      bool
}

func (p pairing) compare(before, cell *result.Cell) result.ComparedCell {
	c := result.ComparedCell{
		Network: cell.Network, Path: cell.Path, Workload: cell.Workload, Mode: cell.Mode, Params: cell.Params,
		Differ: []result.Difference{}, Metrics: []result.ComparedMetric{},
	}
	for _, name := range loose() {
		if a, b := fmt.Sprint(before.Params[name]), fmt.Sprint(cell.Params[name]); a != b {
			c.Differ = append(c.Differ, result.Difference{Name: name, Old: a, New: b})
		}
	}
	base, baseBefore := p.recent.of(cell), p.old.of(before)
	for _, m := range cell.Metrics {
		at := slices.IndexFunc(before.Metrics, func(b result.Metric) bool { return b.Name == m.Name })
		if at < 0 {
			continue
		}
		was := before.Metrics[at]
		q := quantityOf(m)
		margin := max(marginOf(was), marginOf(m))
		c.Metrics = append(c.Metrics, result.ComparedMetric{
			Name: m.Name, Unit: m.Unit, Better: m.Better, Old: was.Value, New: m.Value, OldToll: was.Toll, NewToll: m.Toll,
			Change:     changeOf(q, margin, valuesOf(before, q), valuesOf(cell, q), p.paired),
			TollChange: changeOf(q, margin, ratiosOf(before, baseBefore, q), ratiosOf(cell, base, q), p.paired),
		})
	}
	return c
}

// quantityOf is what a metric is one of.
func quantityOf(m result.Metric) result.Quantity {
	return result.Quantity{Name: m.Name, Unit: m.Unit, Better: m.Better}
}

// marginOf is the margin that a metric's toll was judged by: what its machine
// showed between two equal networks.
func marginOf(m result.Metric) float64 {
	if m.Toll == nil {
		return stats.DeclaredMargin
	}
	return m.Toll.Margin
}

// valuesOf are the logarithms of a metric by block.
func valuesOf(cell *result.Cell, q result.Quantity) map[int]float64 {
	logs := map[int]float64{}
	for _, t := range byBlock(cell, q.Name) {
		if v := t.mean(); v > 0 {
			logs[t.block] = math.Log(v)
		}
	}
	return logs
}

// ratiosOf are the logarithms of a metric beside its baseline's, by block; none
// for the baseline itself.
func ratiosOf(cell, base *result.Cell, q result.Quantity) map[int]float64 {
	if base == nil || base == cell {
		return nil
	}
	logs, baseline := valuesOf(cell, q), valuesOf(base, q)
	for block := range logs {
		if b, stands := baseline[block]; stands {
			logs[block] -= b
		} else {
			delete(logs, block)
		}
	}
	return logs
}

// baselines are those of a result, by what the cells that are weighed against one
// share with it.
type baselines map[string]*result.Cell

func baselinesOf(res *result.Result) baselines {
	all := baselines{}
	for n := range res.Cells {
		base := &res.Cells[n]
		if base.Network != network.Baseline || base.Status != result.StatusOK {
			continue
		}
		for _, key := range []string{groupKey(base), groupKey(base, "link")} {
			if all[key] == nil {
				all[key] = base
			}
		}
	}
	return all
}

// of is the cell that a cell was weighed against, under another link where it has
// one of its own; nil: there is none.
func (b baselines) of(cell *result.Cell) *result.Cell {
	if base := b[groupKey(cell)]; base != nil {
		return base
	}
	return b[groupKey(cell, "link")]
}

// groupKey is what a cell shares with its baseline: all but the network and its
// parameters.
func groupKey(cell *result.Cell, without ...string) string {
	without = slices.Clone(without)
	for _, p := range network.Params() {
		without = append(without, p.Name)
	}
	alike := *cell
	alike.Network = ""
	return identity(&alike, without...)
}

// changeOf is the change from some blocks to others, by pairs or without; nil where
// it can't be told.
func changeOf(q result.Quantity, margin float64, before, after map[int]float64, paired bool) *result.Change {
	var x, y, both []float64
	for _, block := range slices.Sorted(maps.Keys(before)) {
		x = append(x, before[block])
	}
	for _, block := range slices.Sorted(maps.Keys(after)) {
		y = append(y, after[block])
		if b, stands := before[block]; stands {
			both = append(both, after[block]-b)
		}
	}
	interval, whole := stats.Change(x, y, direction(q))
	if paired {
		interval, whole = stats.Toll(both, direction(q))
	}
	if math.IsNaN(interval.Value) {
		return nil
	}
	margins := stats.Margins{Declared: stats.DeclaredMargin, AA: stats.Interval{Low: -margin, High: margin}}
	c := &result.Change{Value: interval.Value, Margin: margins.Used(), Verdict: string(stats.Inconclusive)}
	if whole {
		c.Low, c.High = ends(interval)
		c.Verdict = string(stats.Judge(interval, margins))
	}
	return c
}
