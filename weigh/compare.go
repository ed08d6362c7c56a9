package weigh

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// Gates are the limits of a comparison, as ratios; nil: none.
type Gates struct {
	MaxToll       *float64 // of a network in the newer result
	MaxRegression *float64 // of what both measured
	// AllowMissing names the networks and cells that the newer result may lack: what else
	// is missing breaks each limit.
	AllowMissing []string
	// Absolute holds values, the host's own too, against MaxRegression, and not tolls.
	Absolute bool
}

// Compare compares a result with an older one, cell by cell: of the same network,
// path, workload, mode and parameters, but for the MTU and congestion control,
// which it names where they differ. Two files of one experiment are paired by
// block. Where the machines differ, tolls are compared: what a network costs
// compared with its own host.
func Compare(old, recent *result.Result, gates Gates) result.Comparison {
	c := blank(result.AlongResult, "newer", "older")
	c.Old, c.New, c.Pairs, c.Differ = compared(old), compared(recent), samePairs(old, recent), machines(old, recent)
	c.Paired = c.Pairs > 0 || old.ID != "" && old.ID == recent.ID
	if len(c.Differ) > 0 {
		c.Judged = result.JudgedByToll
	}
	p := pairing{old: sideOf(old), recent: sideOf(recent), paired: c.Paired}
	h := held{old: old, recent: recent, matched: matches(old, recent), c: &c, compared: map[*result.Cell]int{}}
	c.Cells = p.all(recent, h.matched)
	for n := range recent.Cells {
		if cell := &recent.Cells[n]; both(cell, h.matched) {
			h.compared[cell] = len(h.compared)
		}
	}
	c.Single = single(old, recent, h.matched)
	h.gates(gates)
	return c
}

// samePairs is the number of pairs of machines of two results, if they are the same ones in the same
// order: then what one has as a block is that block of the other, since the pair is what differs
// between blocks. 0: they are not, or were not measured on several.
func samePairs(old, recent *result.Result) int {
	same := slices.EqualFunc(old.Pairs, recent.Pairs, func(a, b result.MachinePair) bool { return slices.Equal(a.Machines, b.Machines) })
	if !same {
		return 0
	}
	return len(old.Pairs)
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
	for _, c := range catalog.KernelChanges(a.Kernel, b.Kernel) {
		add(c.Name(), c.Before, c.Now)
	}
	for _, c := range catalog.KernelChanges(b.Kernel, a.Kernel) {
		add(c.Name(), c.Now, c.Before)
	}
	add("CPU", a.CPUModel, b.CPUModel)
	add("CPUs", fmt.Sprint(a.CPUs), fmt.Sprint(b.CPUs))
	add("virtualisation", a.Virtualisation, b.Virtualisation)
	add("clock", a.Clocksource, b.Clocksource)
	add("privilege", a.Privilege, b.Privilege)
	add("design", cmp.Or(old.Plan.Design, result.DesignWindows), cmp.Or(recent.Plan.Design, result.DesignWindows))
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

// matches finds the older cell of each newer one: the one with equal parameters,
// else the only one that differs only in what may differ.
func matches(old, recent *result.Result) map[*result.Cell]*result.Cell {
	found, taken := map[*result.Cell]*result.Cell{}, map[*result.Cell]bool{}
	for _, without := range [][]string{nil, append(result.LooseAxes(), result.InExperiment)} {
		alike := map[string][]*result.Cell{}
		for n := range old.Cells {
			if before := &old.Cells[n]; !taken[before] {
				key := cellKey(before, without...)
				alike[key] = append(alike[key], before)
			}
		}
		for n := range recent.Cells {
			cell := &recent.Cells[n]
			if found[cell] != nil {
				continue
			}
			if same := alike[cellKey(cell, without...)]; len(same) == 1 && !taken[same[0]] {
				found[cell], taken[same[0]] = same[0], true
			}
		}
	}
	return found
}

// compareSide is one of two results that are compared.
type compareSide struct {
	groups []*Group
	scale  *Scale
}

func sideOf(res *result.Result) compareSide {
	groups := Groups(res)
	return compareSide{groups, ScaleOf(groups, cmp.Or(res.Plan.Margin, stats.DeclaredMargin))}
}

// margins are what a change of a cell's metric is held against.
func (s compareSide) margins(cell *result.Cell, q result.Quantity) Margins {
	return s.scale.Margins(Of(s.groups, cell), q)
}

// pairing is two results and whether their blocks are the same.
type pairing struct {
	old, recent compareSide
	paired      bool
	apart       bool                          // they have blocks in common, and no cycles of slots: as machines that take turns
	unjudged    bool                          // what they differ by has no verdict
	twins       map[*result.Cell]*result.Cell // of kernels that took turns: the older cells on a second machine
}

// both reports whether a cell of the newer result and the older one that it is matched with were
// measured.
func both(cell *result.Cell, matched map[*result.Cell]*result.Cell) bool {
	before := matched[cell]
	return before != nil && cell.Status == result.StatusOK && before.Status == result.StatusOK
}

// all compares each cell of a result with the older one that it is matched with.
func (p pairing) all(recent *result.Result, matched map[*result.Cell]*result.Cell) []result.ComparedCell {
	all := []result.ComparedCell{}
	for n := range recent.Cells {
		if cell := &recent.Cells[n]; both(cell, matched) {
			all = append(all, p.compare(matched[cell], cell))
		}
	}
	return all
}

// blocks are the blocks of a cell.
func (p pairing) blocks(cell *result.Cell, q result.Quantity) Blocks {
	all := BlocksOf(cell, q.Name)
	if p.apart {
		for n := range all {
			all[n].cyclesA, all[n].cyclesB = nil, nil
		}
	}
	return all
}

// margins are what a change is held against: what the baselines of each result differ by
// or, of kernels, two machines of one kernel.
func (p pairing) margins(before, cell *result.Cell, q result.Quantity) []Margins {
	if p.unjudged {
		return nil
	}
	if p.twins == nil {
		return []Margins{p.old.margins(before, q), p.recent.margins(cell, q)}
	}
	var own aaOf
	if twin := p.twins[before]; twin != nil {
		own.Estimate, own.whole = stats.Centre(stats.LogRatios(Pairs(p.blocks(twin, q), p.blocks(before, q))))
	}
	return []Margins{marginsOf(own, nil, q, p.old.scale.declared)}
}

func (p pairing) compare(before, cell *result.Cell) result.ComparedCell {
	c := result.ComparedCell{
		Network: cell.Network, Path: cell.Path, Workload: cell.Workload, Mode: cell.Mode, Params: cell.Params,
		Differ: []result.Difference{}, Metrics: []result.ComparedMetric{},
	}
	for _, name := range result.LooseAxes() {
		if a, b := before.Params.Text(name), cell.Params.Text(name); a != b {
			c.Differ = append(c.Differ, result.Difference{Name: name, Old: a, New: b})
		}
	}
	base, baseBefore := Of(p.recent.groups, cell).Baseline, Of(p.old.groups, before).Baseline
	for _, m := range cell.Metrics {
		was := Metric(before, m.Name)
		if was == nil {
			continue
		}
		q := quantityOf(m)
		margins := p.margins(before, cell, q)
		own, ownBefore := p.blocks(cell, q), p.blocks(before, q)
		compared := result.ComparedMetric{
			Name: m.Name, Unit: m.Unit, Better: m.Better, Old: was.Value, New: m.Value, OldToll: was.Toll, NewToll: m.Toll,
			Change: Against(own, ownBefore, p.paired, q, margins...).Change(),
		}
		if base != nil && base != cell && baseBefore != nil {
			over, overBefore := own.Over(BlocksOf(base, q.Name)), ownBefore.Over(BlocksOf(baseBefore, q.Name))
			compared.TollChange = Against(over, overBefore, p.paired, q, margins...).Change()
		}
		if twin := p.twins[before]; twin != nil {
			compared.Again = Against(p.blocks(twin, q), ownBefore, true, q, margins[0].declared()).Change()
		}
		c.Metrics = append(c.Metrics, compared)
	}
	return c
}
