package diagnose

import (
	"fmt"
	"math"
	"slices"

	"tare/result"
	"tare/stats"
	"tare/weigh"
)

const (
	smallMessage = 1 << 10  // bytes up to which a message is small
	largeMessage = 64 << 10 // bytes from which it is large
	// rankApart is by how much the tolls of small and large messages differ, in
	// their logarithm, from which their ranks do.
	rankApart = 0.2
)

// sizeRank finds a network whose toll depends on the size of messages: a cost for
// each message or packet matters less to large ones, a cost for each byte less to
// small ones.
func sizeRank() Rule {
	return Rule{
		ID: "size-rank",
		Match: func(e *Evidence) []result.Finding {
			small, large := e.perBlock(0, smallMessage), e.perBlock(largeMessage, math.MaxInt)
			var apart, ofSmall, ofLarge []float64
			for block, ratio := range small {
				if other, both := large[block]; both {
					apart, ofSmall, ofLarge = append(apart, ratio-other), append(ofSmall, ratio), append(ofLarge, other)
				}
			}
			by, ok := stats.HodgesLehmann(apart)
			tollSmall, _ := stats.Toll(ofSmall, stats.HigherIsBetter)
			tollLarge, _ := stats.Toll(ofLarge, stats.HigherIsBetter)
			if !ok || by.Low < rankApart && by.High > -rankApart {
				return nil
			}
			return []result.Finding{{
				Cause: fmt.Sprintf("%s costs messages of up to 1 KiB %.0f %% of their rate, and those of 64 KiB and more %.0f %%", e.Network, percent(tollSmall.Value), percent(tollLarge.Value)),
				Evidence: []result.Evidence{
					{Name: "toll of messages of up to 1 KiB", Value: tollSmall.Value, Source: "this result"},
					{Name: "toll of messages of 64 KiB and more", Value: tollLarge.Value, Source: "this result"},
				},
				Fix:        "tare run --workloads tcp_sizes --sizes BYTES  # with the message size of your application",
				Confidence: 0.95, // measured by itself
			}}
		},
	}
}

// percent is a share in whole percent; of hardly less than nothing 0, not -0.
func percent(share float64) float64 { return math.Round(100*share) + 0 }

// perBlock is how the goodput of messages from least to most bytes compares with
// the baseline's, by block: the mean of the sizes' log ratios.
func (e *Evidence) perBlock(least, most int) map[int]float64 {
	sum, sizes := map[int]float64{}, map[int]float64{}
	if e.Baseline == nil {
		return sum
	}
	for _, size := range e.sizes(least, most) {
		at := func(s result.Sample) (float64, bool) {
			step := slices.Index(s.Series["size"], size)
			if step < 0 || step >= len(s.Series["throughput"]) {
				return 0, false
			}
			return s.Series["throughput"][step], true
		}
		for _, b := range weigh.BlocksBy(e.Cell, at).Over(weigh.BlocksBy(e.Baseline, at)) {
			if ratio := b.Mean(); ratio > 0 {
				sum[b.N], sizes[b.N] = sum[b.N]+math.Log(ratio), sizes[b.N]+1
			}
		}
	}
	for block := range sum {
		sum[block] /= sizes[block]
	}
	return sum
}

// sizes are those that the cell's sweeps visited, from least to most bytes.
func (e *Evidence) sizes(least, most int) []float64 {
	var all []float64
	for _, s := range e.Cell.Samples {
		for _, size := range s.Series["size"] {
			if int(size) >= least && int(size) <= most && !slices.Contains(all, size) {
				all = append(all, size)
			}
		}
	}
	return all
}
