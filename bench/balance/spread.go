package main

import (
	"math"
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// spread is how much the blocks of a toll in slots differ, as a standard deviation of
// their log ratios, and how much of that is not noise between a block's own cycles. Such
// a rest differs between blocks as a whole: between their connections, which are new in
// each, or in time.
type spread struct{ whole, rest float64 }

// spreads are those of a result's tolls on a metric.
func spreads(res *result.Result, metric string) (all []spread) {
	for n := range res.Cells {
		cell := &res.Cells[n]
		at := slices.IndexFunc(res.Cells, func(c result.Cell) bool { return c.Network == catalog.Baseline && c.Group == cell.Group })
		if cell.Network == catalog.Baseline || at < 0 {
			continue
		}
		baseline := &res.Cells[at]
		tolls := stats.LogRatios(weigh.Pairs(weigh.BlocksOf(cell, metric), weigh.BlocksOf(baseline, metric)))
		whole, _ := stats.Spread(tolls)
		noise, blocks := 0.0, 0 // variances of the blocks' means, together
		for _, s := range cell.Samples {
			both := slices.DeleteFunc(slices.Clone(baseline.Samples), func(b result.Sample) bool { return b.Block != s.Block })
			each := weigh.Differences(metric, s, both...)
			if deviation, ok := stats.Spread(each); ok {
				noise += deviation * deviation / float64(len(each))
				blocks++
			}
		}
		if min(len(tolls), blocks) >= stats.MinBlocks {
			all = append(all, spread{whole, math.Sqrt(max(whole*whole-noise/float64(blocks), 0))})
		}
	}
	return all
}
