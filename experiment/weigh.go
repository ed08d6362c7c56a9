package experiment

import (
	"math"
	"slices"
	"time"

	"tare/network"
	"tare/result"
	"tare/stats"
	"tare/workload"
)

// leastCPUWindow is how much window CPU cost needs, in seconds: the kernel
// counts CPU time in ticks.
const leastCPUWindow = 0.5

// weigh turns the samples so far into metrics, tolls and A/A.
func (r *runner) weigh() {
	start := time.Now()
	defer func() { r.weighed = time.Since(start) }()
	r.res.Noise.AA = []result.AA{}
	for n := range r.groups {
		r.weighGroup(n)
	}
	r.explain()
	r.gather()
}

// weighShare is how much longer than its weighing a block must be for the
// result to be weighed after it.
const weighShare = 20

// weighSome brings the result up to date after a block: the samples always,
// the metrics where weighing takes little beside the block.
func (r *runner) weighSome(block time.Duration) {
	if r.plan.Precision > 0 || r.weighed < block/weighShare {
		r.weigh()
	} else {
		r.gather()
	}
}

// gather puts the cells as they are into the result.
func (r *runner) gather() {
	r.res.Cells = r.res.Cells[:0]
	for _, key := range r.order {
		r.res.Cells = append(r.res.Cells, *r.cells[key])
	}
}

// weighGroup weighs the cells of one group against its baselines.
func (r *runner) weighGroup(n int) {
	g := r.groups[n]
	baseline := r.cells[cellKey{group: n, network: network.Baseline}]
	margins := r.weighBaseline(g, baseline)
	for _, c := range g.cells {
		if c.layout != "" {
			continue
		}
		cell := r.cells[keyOf(n, c)]
		cell.Metrics = nil
		for _, q := range quantitiesOf(cell) {
			m := metricOf(cell, q)
			pairs := pair(cell, baseline, q.Name)
			if value, ok := location(baseline, q); ok {
				m.Baseline = &result.Baseline{Network: network.Baseline, Value: value.Value}
				if enough(len(logRatios(pairs)), cell) {
					m.Toll = r.toll(pairs, q, margins[q.Name])
				}
			}
			if m.Toll != nil && unsteady(margins[q.Name]) {
				m.Warnings = append(m.Warnings, "aa-differs: the two baselines of this group differ by more than the margin: a smaller toll is not told")
			}
			m.Warnings = append(m.Warnings, r.warningsFor(cell, c.cluster)...)
			cell.Metrics = append(cell.Metrics, m)
		}
		addPooled(cell)
		addCeilings(cell, baseline, r.plan.MTU, c.network)
	}
}

// weighBaseline weighs the two baselines against each other: A/A. It gives
// the margins of the group's metrics.
func (r *runner) weighBaseline(g group, cell *result.Cell) map[string]stats.Margins {
	margins := map[string]stats.Margins{}
	cell.Metrics = nil
	for _, q := range quantitiesOf(cell) {
		m := metricOf(cell, q)
		var blocks []pairOf
		for _, b := range byBlock(cell, q.Name) {
			blocks = append(blocks, pairOf{cell: b.a, baselines: []float64{b.b}})
		}
		// Its own width is its margin: A/A is judged by what is declared.
		own := stats.Margins{Declared: r.plan.Margin}
		if aa, ok := tollInterval(blocks, q); ok {
			own.AA = aa
		} else {
			own.AA = stats.Interval{Low: math.Inf(-1), High: math.Inf(1)}
		}
		if q.Name == costName(cell) {
			own.AA = coarse(own.AA, cell)
		}
		margins[q.Name] = own
		if enough(len(logRatios(blocks)), cell) {
			m.Toll = r.toll(blocks, q, own)
		}
		if m.Toll != nil {
			m.Baseline = &result.Baseline{Network: network.Baseline, Value: m.Value}
			if m.Toll.Low != nil {
				r.res.Noise.AA = append(r.res.Noise.AA, result.AA{
					Path: g.path, Workload: g.workload.Name, Params: cell.Params, Metric: q.Name,
					Low: *m.Toll.Low, High: *m.Toll.High, Verdict: m.Toll.Verdict,
				})
			}
		}
		m.Warnings = append(m.Warnings, r.warningsFor(cell, g.cells[0].cluster)...)
		cell.Metrics = append(cell.Metrics, m)
	}
	addPooled(cell)
	addCeilings(cell, cell, r.plan.MTU, g.cells[0].network)
	return margins
}

// cpuTick is what CPU time is counted in (USER_HZ, proc_stat(5)), in seconds.
const cpuTick = 0.010

// coarse widens the A/A interval of a CPU cost to what a tick is of a window's
// CPU time: ticks may fall alike in every window of one baseline, so a smaller
// difference is not told however often it shows.
func coarse(aa stats.Interval, cell *result.Cell) stats.Interval {
	var busy float64
	for _, s := range cell.Samples {
		busy += s.Counters["cpu_busy"]
	}
	if busy > 0 {
		tick := cpuTick * float64(len(cell.Samples)) / busy
		aa.Low, aa.High = min(aa.Low, -tick), max(aa.High, tick)
	}
	return aa
}

// unsteady tells that the two baselines themselves differ: the A/A interval
// leaves zero out and reaches past the declared margin.
func unsteady(m stats.Margins) bool {
	apart := m.AA.Low > 0 || m.AA.High < 0
	return apart && !math.IsInf(m.AA.Low, 0) && max(math.Abs(m.AA.Low), math.Abs(m.AA.High)) > m.Declared
}

// metric is a cell's value over its blocks, not yet weighed.
func metricOf(cell *result.Cell, q result.Quantity) result.Metric {
	m := result.Metric{Name: q.Name, Unit: q.Unit, Better: q.Better, Warnings: []string{}}
	m.N = len(byBlock(cell, q.Name))
	if value, ok := location(cell, q); ok {
		m.Value = value.Value
		m.Low, m.High = ends(value)
	}
	return m
}

// ends gives an interval's ends where it has any.
func ends(i stats.Interval) (low, high *float64) {
	if math.IsInf(i.Low, 0) || math.IsInf(i.High, 0) || math.IsNaN(i.Low) || math.IsNaN(i.High) {
		return nil, nil
	}
	return &i.Low, &i.High
}

// quantitiesOf are the metrics that a cell's samples hold, in the catalogue's
// order, with the CPU cost that they give.
func quantitiesOf(cell *result.Cell) []result.Quantity {
	cpu := costName(cell)
	var found []result.Quantity
	for _, q := range result.Quantities() {
		has := slices.ContainsFunc(cell.Samples, func(s result.Sample) bool {
			_, ok := s.Metrics[q.Name]
			return ok
		})
		if has && enough(len(byBlock(cell, q.Name)), cell) || q.Name == cpu && windowSeconds(cell) >= leastCPUWindow {
			found = append(found, q)
		}
	}
	return found
}

// enough tells whether so many of a cell's blocks can stand for it: six, or all
// where there are fewer. A percentile that only a few windows had the samples
// for is that of those windows.
func enough(blocks int, cell *result.Cell) bool {
	all := map[int]bool{}
	for _, s := range cell.Samples {
		all[s.Block] = true
	}
	return blocks >= min(stats.MinBlocks, len(all))
}

// costName is the metric of CPU cost that a cell's workload has.
func costName(cell *result.Cell) string {
	kind, _ := workload.Find(cell.Workload)
	if kind.Work == workload.PerTransaction {
		return "cpu_per_transaction"
	}
	return "cpu_per_gbit"
}

// windowSeconds is how long the windows were in which work was done that CPU
// can be counted for.
func windowSeconds(cell *result.Cell) float64 {
	var sum float64
	for _, s := range cell.Samples {
		if s.Counters["work"] > 0 {
			sum += s.Counters["window"]
		}
	}
	return sum
}

// value of a metric in a sample; CPU cost is a ratio of two of its counters.
func value(cell *result.Cell, s result.Sample, name string) float64 {
	if name == costName(cell) {
		if s.Counters["work"] > 0 {
			return s.Counters["cpu_busy"] / s.Counters["work"]
		}
		return math.NaN()
	}
	if v, ok := s.Metrics[name]; ok {
		return v
	}
	return math.NaN()
}

// twin is one block of a cell: both layouts of a baseline, or the one value of
// any other (b is then NaN).
type twin struct {
	block int
	a, b  float64
}

// mean is the block's value: of two layouts, the mean in log where there is
// one, as tolls are reckoned.
func (t twin) mean() float64 {
	switch {
	case math.IsNaN(t.b):
		return t.a
	case math.IsNaN(t.a):
		return t.b
	case t.a > 0 && t.b > 0:
		return math.Sqrt(t.a * t.b)
	}
	return (t.a + t.b) / 2
}

// byBlock gathers a metric's values block by block, in the order of the
// samples, which is that of the blocks.
func byBlock(cell *result.Cell, name string) []twin {
	var all []twin
	for _, s := range cell.Samples {
		v := value(cell, s, name)
		if math.IsNaN(v) {
			continue
		}
		n := len(all) - 1
		if n < 0 || all[n].block != s.Block {
			all = append(all, twin{block: s.Block, a: math.NaN(), b: math.NaN()})
			n++
		}
		if s.Layout == layoutB {
			all[n].b = v
		} else {
			all[n].a = v
		}
	}
	return all
}

// location is a metric's value over blocks. CPU cost is a ratio of sums, since
// a window holds too few ticks for one of its own.
func location(cell *result.Cell, q result.Quantity) (stats.Interval, bool) {
	if q.Name == costName(cell) {
		return costOf(cell)
	}
	var values []float64
	positive := true
	for _, t := range byBlock(cell, q.Name) {
		values = append(values, t.mean())
		positive = positive && t.mean() > 0
	}
	at, _ := stats.Location(values, positive)
	return at, len(values) > 0
}

func costOf(cell *result.Cell) (stats.Interval, bool) {
	var busy, work []float64
	last := -1
	for _, s := range cell.Samples {
		if s.Block != last { // both layouts of a block are one
			busy, work, last = append(busy, 0), append(work, 0), s.Block
		}
		busy[len(busy)-1] += s.Counters["cpu_busy"]
		work[len(work)-1] += s.Counters["work"]
	}
	at, _ := stats.RatioOfSums(busy, work)
	return at, !math.IsNaN(at.Value)
}
