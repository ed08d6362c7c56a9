package stats_test

import (
	"fmt"

	"tare/stats"
)

// Throughput in bit/s: a network and its baseline twice, in each of six blocks.
func throughput() []stats.Block {
	return []stats.Block{
		{Cell: 8.1e9, Baselines: []float64{9.0e9, 9.1e9}},
		{Cell: 8.0e9, Baselines: []float64{9.1e9, 9.0e9}},
		{Cell: 7.1e9, Baselines: []float64{8.0e9, 7.9e9}}, // a slow moment, for all three
		{Cell: 8.2e9, Baselines: []float64{9.2e9, 9.1e9}},
		{Cell: 8.0e9, Baselines: []float64{9.0e9, 9.0e9}},
		{Cell: 8.1e9, Baselines: []float64{9.1e9, 9.2e9}},
	}
}

func ExampleToll() {
	toll, ok := stats.Toll(stats.LogRatios(throughput()), stats.HigherIsBetter)
	fmt.Printf("%.3f [%.3f, %.3f] %v\n", toll.Value, toll.Low, toll.High, ok)
	// Output: 0.110 [0.104, 0.116] true
}

func ExampleJudge() {
	var again []stats.Block // the second baseline against the first
	for _, block := range throughput() {
		again = append(again, stats.Block{Cell: block.Baselines[1], Baselines: block.Baselines[:1]})
	}
	toll, _ := stats.Centre(stats.LogRatios(throughput()))
	aa, _ := stats.Centre(stats.LogRatios(again))
	layout := stats.Layout([]stats.Estimate{aa}).Times(stats.TollLayouts)
	margins := stats.Margins{Declared: stats.DeclaredMargin, Least: stats.DeclaredMargin}
	fmt.Println(stats.Judge(toll.And(layout).Toll(stats.HigherIsBetter, 0.05), margins))
	// Output: slower
}

func ExampleBlocksFor() {
	const spread = 0.02 // of the A/A log ratios
	for _, toll := range []float64{0.05, 0.035, 0.03} {
		if blocks, ok := stats.BlocksFor(spread, toll, stats.DeclaredMargin); ok {
			fmt.Printf("a toll of %.0f %% takes %d blocks\n", 100*toll, blocks)
		} else {
			fmt.Printf("a toll of %.0f %% cannot be distinguished\n", 100*toll)
		}
	}
	// Output:
	// a toll of 5 % takes 6 blocks
	// a toll of 4 % takes 25 blocks
	// a toll of 3 % cannot be distinguished
}

func ExampleRatioOfSums() {
	cpu := []float64{1.9, 2.1, 2.0, 4.1, 2.0, 1.9}  // CPU seconds, both ends
	sent := []float64{9.5, 10.4, 10, 20, 10.1, 9.8} // Gbit
	cost, ok := stats.RatioOfSums(cpu, sent)
	fmt.Printf("%.3f [%.3f, %.3f] s per Gbit %v\n", cost.Value, cost.Low, cost.High, ok)
	// Output: 0.201 [0.196, 0.206] s per Gbit true
}
