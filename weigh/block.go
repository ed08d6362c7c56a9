package weigh

import (
	"math"
	"slices"

	"tare/result"
	"tare/stats"
)

// The layouts of the baseline: it is measured twice, on two pairs of hosts.
const (
	LayoutA = "a"
	LayoutB = "b"
)

// Block is what one block measured of one quantity of a cell: both layouts of a
// baseline, or the one value of any other. NaN is what is missing.
type Block struct {
	N    int
	A, B float64

	// What each cycle of slots gave, of each layout; nil: it was one window. Zero is
	// what is missing.
	cyclesA, cyclesB []float64
}

// Mean is the block's value: of two layouts, the mean in log where there is one,
// as tolls are computed.
func (b Block) Mean() float64 {
	switch {
	case math.IsNaN(b.B):
		return b.A
	case math.IsNaN(b.A):
		return b.B
	case b.A > 0 && b.B > 0:
		return math.Sqrt(b.A) * math.Sqrt(b.B) // of the product, which may be too large
	}
	return b.A/2 + b.B/2
}

// values are those that the block has.
func (b Block) values() []float64 {
	return slices.DeleteFunc([]float64{b.A, b.B}, math.IsNaN)
}

// Blocks are the blocks of a quantity of a cell, each once, in rising order.
type Blocks []Block

// BlocksOf gathers a metric of a cell by block.
func BlocksOf(cell *result.Cell, metric string) Blocks {
	cost := CostName(cell)
	all := BlocksBy(cell, func(s result.Sample) (float64, bool) {
		v := value(s, metric, cost)
		return v, !math.IsNaN(v)
	})
	for _, s := range cell.Samples {
		n, there := all.find(s.Block)
		switch {
		case s.Slots == nil || !there:
		case s.Layout == LayoutB:
			all[n].cyclesB = s.Slots.Values[metric]
		default:
			all[n].cyclesA = s.Slots.Values[metric]
		}
	}
	return all
}

// BlocksBy gathers any quantity of a cell's samples by block. A cell that failed
// has none.
func BlocksBy(cell *result.Cell, of func(result.Sample) (float64, bool)) Blocks {
	var all Blocks
	for _, s := range cell.Samples {
		v, known := of(s)
		if !known {
			continue
		}
		n, there := all.find(s.Block)
		if !there {
			all = slices.Insert(all, n, Block{N: s.Block, A: math.NaN(), B: math.NaN()})
		}
		if s.Layout == LayoutB {
			all[n].B = v
		} else {
			all[n].A = v
		}
	}
	return all
}

func (b Blocks) find(block int) (int, bool) {
	return slices.BinarySearchFunc(b, block, func(one Block, block int) int { return one.N - block })
}

// Value is what the blocks amount to; ok is false where there are none.
func (b Blocks) Value() (at stats.Interval, ok bool) {
	var values []float64
	positive := true
	for _, one := range b {
		values = append(values, one.Mean())
		positive = positive && one.Mean() > 0
	}
	at, _ = stats.Location(values, positive)
	return at, len(values) > 0
}

// AA pairs the two layouts of a baseline: one against the other.
func (b Blocks) AA() []stats.Block {
	var pairs []stats.Block
	for _, one := range b {
		pair := stats.Block{Cell: one.A, Baselines: []float64{one.B}}
		if one.cyclesA != nil && one.cyclesB != nil {
			pair = inCycles(one.cyclesA, one.cyclesB)
		}
		pairs = append(pairs, pair)
	}
	return pairs
}

// logs are the logarithms of the blocks that have one.
func (b Blocks) logs() []float64 {
	var logs []float64
	for _, one := range b {
		if v := one.Mean(); v > 0 {
			logs = append(logs, math.Log(v))
		}
	}
	return logs
}

// Over are the blocks as ratios to those of a baseline, where both have one.
func (b Blocks) Over(baseline Blocks) Blocks {
	var ratios Blocks
	for _, one := range b {
		if n, both := baseline.find(one.N); both {
			ratios = append(ratios, Block{N: one.N, A: one.Mean() / baseline[n].Mean(), B: math.NaN()})
		}
	}
	return ratios
}

// Pairs joins the blocks of a cell with those of another that was measured in the
// same blocks: the only place where blocks are paired.
func Pairs(of, than Blocks) []stats.Block {
	var pairs []stats.Block
	for _, one := range of {
		if n, both := than.find(one.N); both {
			pairs = append(pairs, one.against(than[n]))
		}
	}
	return pairs
}

// delta is the difference in the quantity's own unit, pair by pair.
func delta(pairs []stats.Block) (interval stats.Interval, whole bool, n int) {
	var differences []float64
	for _, p := range pairs {
		base := Block{A: math.NaN(), B: math.NaN()}
		if len(p.Baselines) > 0 {
			base.A = p.Baselines[0]
		}
		if len(p.Baselines) > 1 {
			base.B = p.Baselines[1]
		}
		if d := p.Cell - base.Mean(); !math.IsNaN(d) {
			differences = append(differences, d)
		}
	}
	interval, whole = stats.HodgesLehmann(differences)
	return interval, whole, len(differences)
}
