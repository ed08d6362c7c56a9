package experiment

import (
	"math"
	"time"

	"tare/catalog"
	"tare/experiment/schedule"
	"tare/network/kinds"
	"tare/result"
	"tare/stats"
	"tare/weigh"
	"tare/workload"
)

// MostBlocks is the largest number of blocks that a comparison is reported to need.
const MostBlocks = 1000

// AAPlan is the baseline of a plan alone, in as many blocks as fit the time.
func AAPlan(p result.Plan, span time.Duration) result.Plan {
	p.Name = "check"
	p.Networks = []result.NetworkPlan{{Name: catalog.Baseline}}
	baseline, _ := kinds.Find(catalog.Baseline)
	p.Paths = baseline.Paths
	p.EncapNIC = nil
	p.Precision, p.Looks = 0, false
	p.Blocks = schedule.Blocks(span, blockTime(p))
	return p
}

// blockTime is about what one block of a plan takes.
func blockTime(p result.Plan) time.Duration { return blockTimeOf(p, groupsOf(p)) }

// blockTimeOf is about what one block of some groups of a plan takes.
func blockTimeOf(p result.Plan, groups []group) time.Duration {
	return lengthsOf(p).Block(timedOf(p, groups))
}

// TimeOf is about what a plan takes.
func TimeOf(p result.Plan) time.Duration { return time.Duration(p.Blocks) * blockTime(p) }

// Power is what difference a plan's comparisons can detect on one metric.
type Power struct {
	Path, Workload, Metric string
	Spread                 float64       // standard deviation of a block's log ratio
	Toll                   float64       // the smallest that the plan's own blocks detect
	Time                   time.Duration // that they take
	block                  time.Duration
	declared               float64
}

// For gives how many blocks of the plan, and how much time, it takes to detect a
// toll. ok is false if more than MostBlocks would be needed.
func (p Power) For(toll float64) (blocks int, took time.Duration, ok bool) {
	// A toll below the declared margin is detected only with a smaller margin.
	blocks, ok = stats.BlocksFor(p.Spread, toll, math.Min(p.declared, toll/2))
	return blocks, time.Duration(blocks) * p.block, ok && blocks <= MostBlocks
}

// Detectable computes from an A/A run what differences the plan can detect.
func Detectable(res *result.Result, plan result.Plan) []Power {
	var all []Power
	for i := range res.Cells {
		cell := &res.Cells[i]
		kind, _ := workload.Find(cell.Workload)
		// One baseline against the other differs by sqrt(2) of a cell's own
		// spread, a cell against the mean of two by sqrt(1.5).
		spread, ok := stats.Spread(stats.LogRatios(weigh.BlocksOf(cell, kind.Headline).AA()))
		if !ok {
			continue
		}
		p := Power{
			Path: cell.Path, Workload: cell.Workload, Metric: kind.Headline, Spread: spread,
			block: blockTime(plan), declared: plan.Margin,
		}
		p.Time = time.Duration(plan.Blocks) * p.block
		if p.Toll, ok = stats.Detectable(spread, plan.Blocks, plan.Margin); !ok {
			p.Toll = math.Inf(1)
		}
		all = append(all, p)
	}
	return all
}
