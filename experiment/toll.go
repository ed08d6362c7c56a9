package experiment

import (
	"math"
	"slices"

	"tare/network"
	"tare/result"
	"tare/stats"
	"tare/wire"
	"tare/workload"
)

// pairOf is one block of a comparison.
type pairOf struct {
	cell      float64
	baselines []float64
}

// pair joins a cell with the baselines that stood in the same blocks.
func pair(cell, baseline *result.Cell, name string) []pairOf {
	base := byBlock(baseline, name)
	var pairs []pairOf
	for _, t := range byBlock(cell, name) {
		n, stands := slices.BinarySearchFunc(base, t.block, func(b twin, block int) int { return b.block - block })
		if !stands {
			continue
		}
		var both []float64
		for _, v := range []float64{base[n].a, base[n].b} {
			if !math.IsNaN(v) {
				both = append(both, v)
			}
		}
		pairs = append(pairs, pairOf{cell: t.mean(), baselines: both})
	}
	return pairs
}

func logRatios(pairs []pairOf) []float64 {
	blocks := make([]stats.Block, len(pairs))
	for n, p := range pairs {
		blocks[n] = stats.Block{Cell: p.cell, Baselines: p.baselines}
	}
	return stats.LogRatios(blocks)
}

func direction(q result.Quantity) stats.Direction {
	if q.Better == result.Lower {
		return stats.LowerIsBetter
	}
	return stats.HigherIsBetter
}

// tollInterval is the toll of a comparison; ok is false without an interval.
func tollInterval(pairs []pairOf, q result.Quantity) (stats.Interval, bool) {
	return stats.Toll(logRatios(pairs), direction(q))
}

// toll weighs a comparison. It is nil where there is no pair, or where no
// block has a ratio (a baseline of zero).
func toll(pairs []pairOf, q result.Quantity, margins stats.Margins) *result.Toll {
	ratios := logRatios(pairs)
	if len(ratios) == 0 {
		return nil
	}
	interval, whole := stats.Toll(ratios, direction(q))
	t := &result.Toll{Value: interval.Value, Margin: finiteMargin(margins), Delta: delta(pairs), Verdict: string(stats.Inconclusive)}
	if whole {
		t.Low, t.High = ends(interval)
		t.Verdict = string(verdict(interval, margins))
	}
	return t
}

// toll weighs a comparison and, at the end of the run, says how many blocks an
// inconclusive one would take: that is reckoned by trial, too long for between.
func (r *runner) toll(pairs []pairOf, q result.Quantity, margins stats.Margins) *result.Toll {
	t := toll(pairs, q, margins)
	if t == nil || !r.last || t.Verdict != string(stats.Inconclusive) {
		return t
	}
	if n, ok := stats.BlocksNeeded(logRatios(pairs), margins, direction(q)); ok {
		t.BlocksToSay = n
	}
	return t
}

// verdict is the design's, but where the two baselines themselves differ a
// network must differ by more than they do: half their interval's width says
// nothing of how far apart they stand.
func verdict(toll stats.Interval, margins stats.Margins) stats.Verdict {
	v := stats.Judge(toll, margins)
	if !unsteady(margins) || v == stats.Equal || v == stats.Inconclusive {
		return v
	}
	if toll == margins.AA { // A/A itself
		return v
	}
	apart := max(math.Abs(margins.AA.Low), math.Abs(margins.AA.High))
	if toll.Low > apart || toll.High < -apart {
		return v
	}
	return stats.Inconclusive
}

// finiteMargin is the margin used, or 1 where no A/A interval exists: nothing
// is told apart then.
func finiteMargin(m stats.Margins) float64 {
	if used := m.Used(); !math.IsInf(used, 0) && !math.IsNaN(used) {
		return used
	}
	return 1
}

// delta is the difference in the metric's own unit, block by block.
func delta(pairs []pairOf) result.Delta {
	var differences []float64
	for _, p := range pairs {
		base := twin{a: math.NaN(), b: math.NaN()}
		if len(p.baselines) > 0 {
			base.a = p.baselines[0]
		}
		if len(p.baselines) > 1 {
			base.b = p.baselines[1]
		}
		if d := p.cell - base.mean(); !math.IsNaN(d) {
			differences = append(differences, d)
		}
	}
	if len(differences) == 0 {
		return result.Delta{}
	}
	interval, whole := stats.HodgesLehmann(differences)
	d := result.Delta{Value: interval.Value}
	if whole {
		d.Low, d.High = ends(interval)
	}
	return d
}

// addCeilings sets the share of what the wire could carry, and splits the
// toll into framing and the rest. Without a link the CPU is the bound, and
// there is no ceiling.
func addCeilings(cell, baseline *result.Cell, underlayMTU int, n network.Network) {
	own, ok := ceiling(cell, underlayMTU, n)
	if !ok {
		return
	}
	base, known := network.Find(network.Baseline)
	baseCeiling, baseOK := ceiling(baseline, underlayMTU, base)
	for i := range cell.Metrics {
		m := &cell.Metrics[i]
		if m.Name != "throughput" {
			continue
		}
		m.Ceiling = &result.Ceiling{Value: own, Ratio: m.Value / own}
		framing, ok := wire.FramingToll(own, baseCeiling)
		if !ok || !known || !baseOK || n.Name == network.Baseline {
			continue
		}
		m.Ceiling.Framing = framing
		if m.Toll != nil {
			m.TollParts = &result.TollParts{Framing: framing, Processing: m.Toll.Value - framing}
		}
	}
}

// ceiling of a cell's goodput in bit/s. Within a host nothing crosses the link.
func ceiling(cell *result.Cell, underlayMTU int, n network.Network) (float64, bool) {
	link, ok := cell.Params["link"].(float64)
	if !ok || network.Within(cell.Path) {
		return 0, false
	}
	mtu := wire.InnerMTU(underlayMTU, n.Stack)
	kind, _ := workload.Find(cell.Workload)
	if kind.TCP {
		return float64(wire.TCPCeiling(wire.BitsPerSecond(link), mtu, n.Stack)), true
	}
	size, ok := cell.Params["size"].(int)
	return float64(wire.UDPCeiling(wire.BitsPerSecond(link), size, mtu, n.Stack).Goodput), ok
}

// Bound gives the throughputs of imported cells their ceilings: that of a link
// and an MTU, under the headers of a network where its name is known.
func Bound(res *result.Result, link result.BitsPerSecond, mtu int, name string) error {
	n, found := network.Find(name)
	if name != "" && !found {
		return Unknown("network", name, Everything())
	}
	for i := range res.Cells {
		cell := &res.Cells[i]
		cell.Params["link"], cell.Params["mtu"] = float64(link), float64(mtu)
		if found {
			cell.Network = name
		}
		addCeilings(cell, cell, mtu, n)
	}
	return nil
}

// headline is the metric by which a cell's workload is judged first.
func headline(cell result.Cell) (result.Metric, bool) {
	kind, _ := workload.Find(cell.Workload)
	for _, m := range cell.Metrics {
		if m.Name == kind.Headline {
			return m, true
		}
	}
	return result.Metric{}, false
}
