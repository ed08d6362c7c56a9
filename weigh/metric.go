package weigh

import (
	"math"
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// LeastCPUWindow is how much window CPU cost needs, in seconds: the kernel
// counts CPU time in ticks.
const LeastCPUWindow = 0.5

// CPUTick is what CPU time is counted in (USER_HZ, proc_stat(5)), in seconds.
const CPUTick = 0.010

// Metric finds a metric of a cell by name; nil: it has none.
func Metric(cell *result.Cell, name string) *result.Metric {
	n := slices.IndexFunc(cell.Metrics, func(m result.Metric) bool { return m.Name == name })
	if n < 0 {
		return nil
	}
	return &cell.Metrics[n]
}

// Slower is the metric by which a cell is slower than its baseline: the headline, or the
// first that has this verdict; nil: none has. What explains a toll explains this one.
func Slower(cell *result.Cell) *result.Metric {
	is := func(m *result.Metric) bool {
		return m != nil && m.Toll != nil && m.Toll.Verdict == string(stats.Slower)
	}
	if m := Headline(cell); is(m) {
		return m
	}
	for n := range cell.Metrics {
		if m := &cell.Metrics[n]; is(m) {
			return m
		}
	}
	return nil
}

// Headline is the metric by which a cell's workload is judged first; nil: it has
// none.
func Headline(cell *result.Cell) *result.Metric {
	kind, _ := catalog.FindWorkload(cell.Workload)
	return Metric(cell, kind.Headline)
}

// Unweighed are the metrics that a cell's samples hold, without a baseline.
func Unweighed(cell *result.Cell) []result.Metric {
	var metrics []result.Metric
	for _, q := range quantitiesOf(cell) {
		metrics = append(metrics, metricOf(cell, q))
	}
	return metrics
}

// metricOf is a cell's value over its blocks, not yet weighed.
func metricOf(cell *result.Cell, q result.Quantity) result.Metric {
	m := result.Metric{Name: q.Name, Unit: q.Unit, Better: q.Better, Warnings: []string{}}
	m.N = len(BlocksOf(cell, q.Name))
	if value, ok := location(cell, q); ok {
		m.Value = value.Value
		m.Low, m.High = ends(value)
	}
	return m
}

// quantitiesOf are the metrics that a cell's samples hold, in the catalogue's
// order, with the CPU cost that they give.
func quantitiesOf(cell *result.Cell) []result.Quantity {
	cpu := CostName(cell)
	var found []result.Quantity
	for _, q := range result.Quantities() {
		has := slices.ContainsFunc(cell.Samples, func(s result.Sample) bool {
			_, ok := s.Metrics[q.Name]
			return ok
		})
		if has && enough(len(BlocksOf(cell, q.Name)), cell) || q.Name == cpu && CPUWindow(cell) >= LeastCPUWindow {
			found = append(found, q)
		}
	}
	return found
}

// quantityOf is what a metric is one of.
func quantityOf(m result.Metric) result.Quantity {
	return result.Quantity{Name: m.Name, Unit: m.Unit, Better: m.Better}
}

// enough reports whether so many of a cell's blocks can represent it: six, or all
// where there are fewer. A percentile that only a few windows had the samples
// for is that of those windows.
func enough(blocks int, cell *result.Cell) bool {
	all := map[int]bool{}
	for _, s := range cell.Samples {
		all[s.Block] = true
	}
	return blocks >= min(stats.MinBlocks, len(all))
}

// CostName is the metric of CPU cost that a cell's workload has.
func CostName(cell *result.Cell) string {
	kind, _ := catalog.FindWorkload(cell.Workload)
	if kind.Work == catalog.PerTransaction {
		return "cpu_per_transaction"
	}
	return "cpu_per_gbit"
}

// CPUWindow is how long the windows were in which work was done that CPU time was
// counted for, in seconds.
func CPUWindow(cell *result.Cell) float64 {
	var sum float64
	for _, s := range cell.Samples {
		if s.Counters["work"] > 0 {
			sum += s.Counters["window"]
		}
	}
	return sum
}

// value of a metric in a sample; that which is the CPU cost is a ratio of two of its
// counters. NaN: the sample has none.
func value(s result.Sample, name, cost string) float64 {
	if name == cost && s.Counters["work"] > 0 {
		return s.Counters["cpu_busy"] / s.Counters["work"]
	}
	if v, ok := s.Metrics[name]; ok {
		return v
	}
	return math.NaN()
}

// location is a metric's value over blocks. CPU cost is a ratio of sums, since
// a window holds too few ticks for its own ratio.
func location(cell *result.Cell, q result.Quantity) (stats.Interval, bool) {
	if q.Name == CostName(cell) {
		return costOf(cell)
	}
	return BlocksOf(cell, q.Name).Value()
}

func costOf(cell *result.Cell) (stats.Interval, bool) {
	var busy, work []float64
	last := -1
	for _, s := range cell.Samples {
		if s.Counters["work"] == 0 { // slots without a window
			continue
		}
		if s.Block != last { // both layouts of a block are one
			busy, work, last = append(busy, 0), append(work, 0), s.Block
		}
		busy[len(busy)-1] += s.Counters["cpu_busy"]
		work[len(work)-1] += s.Counters["work"]
	}
	at, _ := stats.RatioOfSums(busy, work)
	return at, !math.IsNaN(at.Value)
}

// tick is the least difference of a CPU cost that counts: one tick of a window's CPU time. The ticks
// may be counted the same way in every window of one baseline, so a smaller difference is none,
// however often it is seen.
func tick(cell *result.Cell) float64 {
	var busy, windows float64
	for _, s := range cell.Samples {
		if s.Counters["work"] > 0 {
			busy, windows = busy+s.Counters["cpu_busy"], windows+1
		}
	}
	if busy <= 0 {
		return 0
	}
	return CPUTick * windows / busy
}
