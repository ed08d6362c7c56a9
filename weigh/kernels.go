package weigh

import (
	"tare/result"
	"tare/stats"
)

// Kernels compares what a plan measured on another kernel with what it measured on the first,
// block by block: their machines took turns. A difference is held against what the first
// machine and its twin, which has the same kernel, differ by. Of emulated CPUs none is judged.
func Kernels(first, twin, other *result.Result) result.Comparison {
	c := result.Comparison{
		Old: compared(first), New: compared(other), Paired: true, Judged: result.JudgedByValue,
		Differ: machines(first, other), Cells: []result.ComparedCell{}, Held: []result.Held{}, Unmet: []result.Unmet{},
	}
	p := pairing{old: sideOf(first), recent: sideOf(other), paired: true, twins: map[*result.Cell]*result.Cell{}}
	for cell, before := range matches(first, twin) {
		p.twins[before] = cell
	}
	matched := matches(first, other)
	for n := range other.Cells {
		cell := &other.Cells[n]
		if before := matched[cell]; before != nil && cell.Status == result.StatusOK && before.Status == result.StatusOK {
			c.Cells = append(c.Cells, p.compare(before, cell))
		}
	}
	c.Single = single(first, other, matched)
	if first.Environment.Emulated() {
		unjudged(c.Cells)
	}
	return c
}

// unjudged leaves the changes without a verdict.
func unjudged(cells []result.ComparedCell) {
	for _, cell := range cells {
		for n := range cell.Metrics {
			m := &cell.Metrics[n]
			for _, change := range []*result.Change{m.Change, m.TollChange, m.Again} {
				if change != nil {
					change.Verdict = string(stats.Inconclusive)
				}
			}
		}
	}
}
