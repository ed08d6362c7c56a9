package experiment

import (
	"maps"
	"math"
	"slices"
	"time"

	"tare/agent"
	"tare/catalog"
	"tare/experiment/schedule"
	"tare/result"
	"tare/weigh"
	"tare/workload"
)

// visit is one run of a block.
type visit struct {
	group int
	place place
}

// scheduleOf is the schedule of some groups of a plan. The numbers of its cells are those of
// the recorder.
func scheduleOf(p result.Plan, groups []group, began time.Time) *schedule.Schedule {
	plan := schedule.Plan{
		Seed: p.Seed, Blocks: p.Blocks, Looks: p.Looks, MaxTime: p.MaxTime.Duration(), Precision: p.Precision,
	}
	numbers := map[cellKey]int{}
	for n, g := range groups {
		of := schedule.Group{With: leaderOf(p, groups, n), Slot: timed(p, g).Slot}
		for _, at := range g.places {
			key := keyOf(n, at)
			if _, known := numbers[key]; !known {
				numbers[key] = len(numbers)
			}
			of.Cells = append(of.Cells, numbers[key])
		}
		plan.Groups = append(plan.Groups, of)
	}
	return schedule.New(plan, began)
}

// leaderOf is the first of the groups that a group takes turns with: of those that differ from it only
// in what is compared along.
func leaderOf(p result.Plan, groups []group, n int) int {
	if !takesTurns(p, groups[n]) {
		return n
	}
	own := groups[n]
	return slices.IndexFunc(groups, func(g group) bool {
		return g.path == own.path && g.workload == own.workload && g.between.besides(p) == own.between.besides(p) && takesTurns(p, g)
	})
}

// besides names what connects the hosts, but for the axes along which a plan compares.
func (b between) besides(p result.Plan) string {
	axes := maps.Clone(b.axes)
	for _, by := range append(slices.Clone(p.By), "ip") {
		delete(axes, by)
	}
	return axes.Key()
}

// visited are visits of a schedule, with their places.
func (r *runner) visited(all []schedule.Visit) (visits []visit) {
	for _, v := range all {
		visits = append(visits, visit{v.Group, r.groups[v.Group].places[v.Place]})
	}
	return visits
}

// takesTurns reports whether the runs of a group alternate in slots. Tools of others
// do not, nor does what fills a link's bucket in the pauses, nor what a neighbour disturbs,
// which runs for as long as a window, nor what can't pause. A path within
// a host has no link.
func takesTurns(p result.Plan, g group) bool {
	kind, _ := workload.Find(g.workload.Name)
	run := runOf(p, g.workload)
	plain := run.Tool == "" && run.Rate == 0 && run.Bytes == 0 && !run.Reverse && !run.Bidir
	linked := false
	pausing := true
	for _, at := range g.places {
		linked = linked || at.axes.Linked()
		pausing = pausing && pauses(g.workload, at.network)
	}
	linked = linked && !catalog.Within(g.path)
	few := kind.SlotFlows == 0 || run.Flows <= kind.SlotFlows
	return p.Design == result.DesignSlots && kind.Slot > 0 && few && plain && !linked && !hasNeighbour(p) && pausing && run.Mode == kind.Modes[0]
}

// timed is what the time of a group in a block depends on.
func timed(p result.Plan, g group) schedule.Timed {
	t := schedule.Timed{Runs: len(g.places)}
	if takesTurns(p, g) {
		kind, _ := workload.Find(g.workload.Name)
		t.Slot, t.Settle, t.Brief = kind.Slot, kind.Settle, kind.Slot < agent.LeastSlot
	}
	return t
}

func timedOf(p result.Plan, groups []group) (all []schedule.Timed) {
	for _, g := range groups {
		all = append(all, timed(p, g))
	}
	return all
}

// lengthsOf are for how long a plan has each run measured.
func lengthsOf(p result.Plan) schedule.Lengths {
	return schedule.Lengths{Warmup: p.Warmup, Duration: p.Duration, Blocks: p.Blocks}
}

// compared is what a look asks about.
func (r *recorder) compared() (all []schedule.Compared) {
	if !r.plan.Looks {
		return nil
	}
	cells, numbers := make([]*result.Cell, len(r.order)), map[*result.Cell]int{}
	for n, key := range r.order {
		cells[n] = r.cells[key]
		numbers[cells[n]] = n
	}
	groups := weigh.GroupsOf(cells)
	scale := weigh.ScaleOf(groups, r.plan.Margin)
	for _, g := range groups {
		if g.Baseline == nil {
			continue
		}
		of := schedule.Compared{Blocks: g.Measured(), Baseline: numbers[g.Baseline]}
		for _, c := range g.Cells {
			if c != g.Baseline {
				of.Others = append(of.Others, numbers[c])
			}
		}
		of.Decided = func(cell int, rate float64) bool {
			return scale.Decided(g, cells[cell], rate) && enoughCPU(cells[cell])
		}
		all = append(all, of)
	}
	return all
}

// enoughCPU reports whether a cell's CPU cost will be known, if it is counted.
func enoughCPU(c *result.Cell) bool {
	counted := weigh.CPUWindow(c)
	return counted == 0 || counted >= weigh.LeastCPUWindow
}

// halves are half the widths of the intervals of all headline tolls; NaN where one has none.
func (r *recorder) halves() (all []float64) {
	for _, cell := range r.res.Cells {
		if cell.Status != result.StatusOK || cell.Network == catalog.Baseline && len(r.groups[0].places) > 2 {
			continue
		}
		half := math.NaN()
		if m := weigh.Headline(&cell); m != nil && m.Toll != nil && m.Toll.Low != nil {
			half = (*m.Toll.High - *m.Toll.Low) / 2
		}
		all = append(all, half)
	}
	return all
}
