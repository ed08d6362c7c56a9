package weigh

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"tare/catalog"
	"tare/result"
	"tare/stats"
)

// shuffles is how often the order of slots is drawn anew, to see how much an effect of
// the run before is by chance.
const shuffles = 200

// CarryOvers looks in each group whose runs took turns for what a slot has of those
// around it.
func CarryOvers(groups []*Group) []result.CarryOver {
	var all []result.CarryOver
	for _, g := range groups {
		kind, _ := catalog.FindWorkload(g.Workload)
		slots := slotsOf(g, kind.Headline)
		if len(slots) == 0 {
			continue
		}
		c := result.CarryOver{Path: g.Path, Workload: g.Workload, Params: g.Params, Metric: kind.Headline, Slots: len(slots)}
		for _, s := range slots {
			if s.value <= 0 {
				c.Lost++
			}
		}
		c.Effect, c.Chance = before(slots)
		c.Bias, c.Length = Bias(g.Cells), g.slot()
		all = append(all, c)
	}
	return all
}

// What slots have of those around them is a warning from these on.
const (
	muchEffect = 0.01
	byChance   = 0.01
	muchLost   = 0.05
)

// SlotWarnings are what a user should know before trusting a group's tolls.
func SlotWarnings(c result.CarryOver) []string {
	at := c.Workload + " on " + c.Path
	var warnings []string
	if c.Effect > muchEffect && c.Chance < byChance {
		warnings = append(warnings, fmt.Sprintf("carry-over: %s: a slot differs by %.1f %% with the network that had the one before: compare with --design windows", at, 100*c.Effect))
	}
	if math.Abs(c.Bias) > muchEffect {
		warnings = append(warnings, fmt.Sprintf("slot-bias: %s: a toll differs by %.1f %% or more between all of its slots and their second halves: compare with --design windows and a long --duration", at, 100*math.Abs(c.Bias)))
	}
	if lost := float64(c.Lost) / float64(max(c.Slots, 1)); lost > muchLost {
		warnings = append(warnings, fmt.Sprintf("lost-slots: %s: %.0f %% of the slots began late or brought nothing, and were left out", at, 100*lost))
	}
	return warnings
}

// slot is one slot of a group.
type slot struct {
	block, cycle, place int
	run                 int // of the block, by cell and layout
	value               float64
}

// slotsOf are the slots of a group in the order of time.
func slotsOf(g *Group, metric string) []slot {
	var all []slot
	for n, cell := range g.Cells {
		for _, s := range cell.Samples {
			if s.Slots == nil {
				continue
			}
			run := 2 * n
			if s.Layout == LayoutB {
				run++
			}
			for cycle, v := range s.Slots.Values[metric] {
				all = append(all, slot{s.Block, cycle, s.Slots.Places[cycle], run, v})
			}
		}
	}
	slices.SortFunc(all, func(a, b slot) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.cycle, b.cycle), cmp.Compare(a.place, b.place))
	})
	return all
}

// before is how much a slot's value, without what its own run and its cycle explain,
// differs by the run that had the slot before: the standard deviation of that effect,
// and the chance of as much in an order drawn anew.
func before(slots []slot) (effect, chance float64) {
	rest := residuals(slots)
	var values []float64
	var after []int
	runs := 0
	for _, s := range slots {
		runs = max(runs, s.place+1)
	}
	for n := 1; n < len(slots); n++ {
		next := slots[n].cycle*runs+slots[n].place == slots[n-1].cycle*runs+slots[n-1].place+1 // else another group's was between
		if next && slots[n].block == slots[n-1].block && !math.IsNaN(rest[n]) {
			values, after = append(values, rest[n]), append(after, slots[n-1].run)
		}
	}
	if len(values) < 2 {
		return 0, 1
	}
	seen := between(values, after)
	order := rand.New(rand.NewPCG(1, uint64(len(values)))) // the same for the same result
	as := 1
	var sum float64
	for range shuffles {
		order.Shuffle(len(after), func(i, j int) { after[i], after[j] = after[j], after[i] })
		by := between(values, after)
		sum += by
		if by >= seen {
			as++
		}
	}
	return math.Sqrt(max(0, seen-sum/shuffles)), float64(as) / (shuffles + 1)
}

// residuals are the logarithms of slots without the mean of their run in the block and
// that of their cycle. NaN: the slot has no value.
func residuals(slots []slot) []float64 {
	rest := make([]float64, len(slots))
	for n, s := range slots {
		rest[n] = math.Log(s.value) // of zero it is infinite
		if s.value <= 0 {
			rest[n] = math.NaN()
		}
	}
	for _, key := range []func(slot) [2]int{
		func(s slot) [2]int { return [2]int{s.block, s.run} },
		func(s slot) [2]int { return [2]int{s.block, s.cycle} },
	} {
		sums, counts := map[[2]int]float64{}, map[[2]int]float64{}
		for n, s := range slots {
			if !math.IsNaN(rest[n]) {
				sums[key(s)] += rest[n]
				counts[key(s)]++
			}
		}
		for n, s := range slots {
			rest[n] -= sums[key(s)] / counts[key(s)]
		}
	}
	return rest
}

// between is the variance between the means of values of the same kind, of which there is one
// at least. Kinds are small numbers.
func between(values []float64, kind []int) float64 {
	kinds := slices.Max(kind) + 1
	sums, counts := make([]float64, kinds), make([]float64, kinds)
	for n, v := range values {
		sums[kind[n]] += v
		counts[kind[n]]++
	}
	var variance float64
	for k, sum := range sums {
		if counts[k] > 0 {
			variance += sum / counts[k] * sum / counts[k] * counts[k] / float64(len(values))
		}
	}
	return variance
}

// slot is the length of the group's slots.
func (g *Group) slot() (length result.Seconds) {
	for _, cell := range g.Cells {
		for _, s := range cell.Samples {
			if s.Slots != nil {
				length = max(length, s.Slots.Length)
			}
		}
	}
	return length
}

// Bias is how much a toll differs at least between all of its cell's slots and their
// second halves, over the cycles of all blocks: of the network where that is most. Zero:
// of none by more than chance. The cells are a group's.
func Bias(cells []*result.Cell) (most float64) {
	at := slices.IndexFunc(cells, func(c *result.Cell) bool { return c.Network == catalog.Baseline })
	if at < 0 {
		return 0
	}
	for _, cell := range cells {
		if cell == cells[at] {
			continue
		}
		for _, each := range laterTolls(cell.Samples, cells[at].Samples) {
			by, whole := stats.Quantile(each, 0.5)
			if least := math.Max(by.Low, 0) + math.Min(by.High, 0); whole && math.Abs(least) > math.Abs(most) {
				most = least
			}
		}
	}
	return math.Expm1(most)
}

// TooShort reports whether a group's slots are too short for its tolls.
func TooShort(cells []*result.Cell) bool { return math.Abs(Bias(cells)) > muchEffect }

// laterTolls are by how much the second half of each slot is more in log than all of it,
// against the baseline's in the same cycle, by metric.
func laterTolls(run, baseline []result.Sample) map[string][]float64 {
	all := map[string][]float64{}
	for _, s := range run {
		if s.Slots == nil {
			continue
		}
		for metric, ratios := range s.Slots.Later {
			var others [][]float64
			for _, b := range baseline {
				if b.Block == s.Block && b.Slots != nil {
					others = append(others, b.Slots.Later[metric])
				}
			}
			if len(others) > 0 {
				each, _ := differences(ratios, others...)
				all[metric] = append(all[metric], each...)
			}
		}
	}
	return all
}
