package experiment

import (
	"fmt"
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
	for n := range recent.Cells {
		cell := &recent.Cells[n]
		if before := matched[cell]; before != nil && cell.Status == result.StatusOK && before.Status == result.StatusOK {
			c.Cells = append(c.Cells, compareCells(pairing{old, recent, c.Paired}, before, cell))
		}
	}
	c.Single = single(old, recent, matched)
	c.Unmet = append(heavy(recent, gates), regressions(c, old, recent, matched, gates)...)
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
	var names []string
	for name := range a {
		if _, both := b[name]; both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
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
		for n := range recent.Cells {
			cell := &recent.Cells[n]
			if found[cell] != nil {
				continue
			}
			var alike []*result.Cell
			for m := range old.Cells {
				if before := &old.Cells[m]; !taken[before] && identity(before, without...) == identity(cell, without...) {
					alike = append(alike, before)
				}
			}
			if len(alike) == 1 {
				found[cell], taken[alike[0]] = alike[0], true
			}
		}
	}
	return found
}

// pairing is the two results and whether their blocks are the same.
type pairing struct {
	old, recent *result.Result
	paired      bool
}

func compareCells(p pairing, before, cell *result.Cell) result.ComparedCell {
	c := result.ComparedCell{
		Network: cell.Network, Path: cell.Path, Workload: cell.Workload, Mode: cell.Mode, Params: cell.Params,
		Differ: []result.Difference{}, Metrics: []result.ComparedMetric{},
	}
	for _, name := range loose() {
		if a, b := fmt.Sprint(before.Params[name]), fmt.Sprint(cell.Params[name]); a != b {
			c.Differ = append(c.Differ, result.Difference{Name: name, Old: a, New: b})
		}
	}
	for _, m := range cell.Metrics {
		at := slices.IndexFunc(before.Metrics, func(b result.Metric) bool { return b.Name == m.Name })
		if at < 0 {
			continue
		}
		was := before.Metrics[at]
		q := result.Quantity{Name: m.Name, Unit: m.Unit, Better: m.Better}
		margins := stats.Margins{Declared: stats.DeclaredMargin, AA: around(max(marginOf(was), marginOf(m)))}
		c.Metrics = append(c.Metrics, result.ComparedMetric{
			Name: m.Name, Unit: m.Unit, Better: m.Better, Old: was.Value, New: m.Value, OldToll: was.Toll, NewToll: m.Toll,
			Change:     p.change(q, margins, valuesOf(before, q), valuesOf(cell, q)),
			TollChange: p.change(q, margins, ratiosOf(p.old, before, q), ratiosOf(p.recent, cell, q)),
		})
	}
	return c
}

// marginOf is the margin that a metric's toll was judged by: what its machine
// showed between two equal networks.
func marginOf(m result.Metric) float64 {
	if m.Toll == nil {
		return stats.DeclaredMargin
	}
	return m.Toll.Margin
}

func around(margin float64) stats.Interval { return stats.Interval{Low: -margin, High: margin} }

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
func ratiosOf(res *result.Result, cell *result.Cell, q result.Quantity) map[int]float64 {
	base := baselineOf(res, cell)
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

// baselineOf is the cell that a cell was weighed against; nil: there is none.
func baselineOf(res *result.Result, cell *result.Cell) *result.Cell {
	without := []string{"link"}
	for _, p := range network.Params() {
		without = append(without, p.Name)
	}
	key := func(c *result.Cell, without ...string) string {
		alike := *c
		alike.Network = ""
		return identity(&alike, without...)
	}
	for n := range res.Cells {
		base := &res.Cells[n]
		if base.Network == network.Baseline && base.Status == result.StatusOK && key(base, without...) == key(cell, without...) {
			return base
		}
	}
	return nil
}

// change is that of two samples, by pairs of blocks or without; nil where one
// is empty.
func (p pairing) change(q result.Quantity, margins stats.Margins, before, after map[int]float64) *result.Change {
	if len(before) == 0 || len(after) == 0 {
		return nil
	}
	var x, y, paired []float64
	for _, block := range sortedBlocks(before) {
		x = append(x, before[block])
	}
	for _, block := range sortedBlocks(after) {
		y = append(y, after[block])
		if b, both := before[block]; both {
			paired = append(paired, after[block]-b)
		}
	}
	interval, whole := stats.Change(x, y, direction(q))
	if p.paired {
		interval, whole = stats.Toll(paired, direction(q))
	}
	if math.IsNaN(interval.Value) {
		return nil
	}
	c := &result.Change{Value: interval.Value, Margin: margins.Used(), Verdict: string(stats.Inconclusive)}
	if whole {
		c.Low, c.High = ends(interval)
		c.Verdict = string(stats.Judge(interval, margins))
	}
	return c
}

func sortedBlocks(m map[int]float64) []int {
	var all []int
	for block := range m {
		all = append(all, block)
	}
	slices.Sort(all)
	return all
}
