package balance

import (
	"math"
	"slices"
	"time"

	"tare/bench/harness"
	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// matters is the toll from which one should be known: a ratio.
const matters = 0.05

// figures are how finely one result weighs.
type figures struct {
	Took    time.Duration
	widths  map[string][]float64 // half-widths of the tolls' intervals by metric, as ratios, and what follows
	Known   int                  // tolls beyond what matters whose verdict is not inconclusive
	Beyond  int                  // tolls beyond what matters
	Decided int                  // tolls whose verdict is not inconclusive
	All     int                  // tolls with a verdict
	Differs int                  // baselines that are shown to differ from themselves
}

// Other widths than those of tolls, most of them before the name of a metric.
const (
	selfWidth   = "self "  // of the baselines against each other
	blockSpread = "block " // the deviation of a block's toll in slots
	restSpread  = "rest "  // and what of it is not noise between the block's own cycles
	addedWidth  = "added"  // of what a network adds to the round trip, in s
)

// metrics are those that the page shows.
func metrics() []string { return []string{"throughput", "rtt_p50"} }

func figuresOf(res *result.Result, added string) figures {
	f := figures{widths: map[string][]float64{}}
	add := func(width string, values ...float64) { f.widths[width] = append(f.widths[width], values...) }
	for _, m := range metrics() {
		whole, rest := spreads(res, m)
		add(blockSpread+m, whole...)
		add(restSpread+m, rest...)
	}
	began, err1 := time.Parse(time.RFC3339, res.Started)
	ended, err2 := time.Parse(time.RFC3339, res.Finished)
	if err1 == nil && err2 == nil {
		f.Took = ended.Sub(began)
	}
	for _, cell := range res.Cells {
		for _, m := range cell.Metrics {
			if d := m.Toll; cell.Network == added && m.Name == "rtt_p50" && d != nil && d.Delta.Low != nil {
				add(addedWidth, (*d.Delta.High-*d.Delta.Low)/2)
			}
			if cell.Network == catalog.Baseline || m.Toll == nil || m.Toll.Low == nil || !slices.Contains(metrics(), m.Name) {
				continue
			}
			add(m.Name, (*m.Toll.High-*m.Toll.Low)/2)
			f.count(m.Toll)
		}
	}
	for _, aa := range res.Noise.AA {
		add(selfWidth+aa.Metric, (aa.High-aa.Low)/2)
		if differs(aa) {
			f.Differs++
		}
	}
	return f
}

func (f *figures) count(t *result.Toll) {
	decided, beyond := t.Verdict != string(stats.Inconclusive), math.Abs(t.Value) > matters
	f.All++
	if decided {
		f.Decided++
	}
	if beyond {
		f.Beyond++
	}
	if decided && beyond {
		f.Known++
	}
}

// differs reports whether a baseline seems to differ from itself.
func differs(aa result.AA) bool {
	return aa.Verdict == string(stats.Slower) || aa.Verdict == string(stats.Faster)
}

// joined are the figures of several runs, as if of one.
func joined(all []figures) figures {
	sum := figures{widths: map[string][]float64{}}
	for _, f := range all {
		sum.Took += f.Took / time.Duration(len(all))
		sum.Known, sum.Beyond, sum.Differs = sum.Known+f.Known, sum.Beyond+f.Beyond, sum.Differs+f.Differs
		sum.Decided, sum.All = sum.Decided+f.Decided, sum.All+f.All
		for name, values := range f.widths {
			sum.widths[name] = append(sum.widths[name], values...)
		}
	}
	return sum
}

// Median is that of widths in percent, and Worst the largest of them.
func (f figures) Median(width string) string { return harness.Percent(stats.Median(f.widths[width])) }

func (f figures) Worst(width string) string {
	if len(f.widths[width]) == 0 {
		return harness.Percent(math.NaN())
	}
	return harness.Percent(slices.Max(f.widths[width]))
}

// Added is the median half-width of what a network adds to the round trip, in s.
func (f figures) Added() float64 { return stats.Median(f.widths[addedWidth]) }

// Measured are the metrics that either design has tolls on.
func (s section) Measured() []string {
	return slices.DeleteFunc(metrics(), func(m string) bool { return len(s.Windows.widths[m])+len(s.Slots.widths[m]) == 0 })
}

// spreads are how much the blocks of each toll in slots differ, as standard deviations of
// their log ratios, and how much of that is not noise between a block's own cycles. Such
// a rest differs between blocks as a whole: between their connections, which are new in
// each, or in time.
func spreads(res *result.Result, metric string) (whole, rest []float64) {
	for n := range res.Cells {
		cell := &res.Cells[n]
		at := slices.IndexFunc(res.Cells, func(c result.Cell) bool { return c.Network == catalog.Baseline && c.Group == cell.Group })
		if cell.Network == catalog.Baseline || at < 0 {
			continue
		}
		baseline := &res.Cells[at]
		tolls := stats.LogRatios(weigh.Pairs(weigh.BlocksOf(cell, metric), weigh.BlocksOf(baseline, metric)))
		all, _ := stats.Spread(tolls)
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
			whole, rest = append(whole, all), append(rest, math.Sqrt(max(all*all-noise/float64(blocks), 0)))
		}
	}
	return whole, rest
}
