package weigh

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tare/catalog"
	"tare/result"
	"tare/test/labtest"
)

// turns is what a group of three runs that take turns is like.
type turns struct {
	toll   float64 // of route
	shared float64 // standard deviation of what all slots of a cycle have, in log
	own    float64 // and of what each has
	after  float64 // by how much less a slot gives that follows one of route
	settle float64 // by how much more the second half of a slot of route gives
	place  int     // of route in each cycle; 0: any
}

// group draws the slots of eight blocks of 30 cycles.
func (t turns) group() *Group {
	const blocks, cycles = 8, 30
	draw := rand.New(rand.NewPCG(4, 2))
	host, route := &result.Cell{Network: catalog.Baseline}, &result.Cell{Network: "route"}
	for _, c := range []*result.Cell{host, route} {
		c.Status, c.Workload, c.Group = result.StatusOK, "tcp_stream", "g"
	}
	for block := range blocks {
		slots := [3]result.Slots{{Length: 0.01}, {Length: 0.01}, {Length: 0.01}}
		before := -1
		for range cycles {
			level := t.shared * draw.NormFloat64()
			places := draw.Perm(3) // run by place
			if t.place > 0 {
				places = slices.Insert(draw.Perm(2), t.place, 2)
			}
			for place, run := range places {
				v := level + t.own*draw.NormFloat64()
				later := 1 + 0.1*float64(block) // what all runs of a block have is no bias
				if run == 2 {
					v, later = v-math.Log1p(t.toll), later*(1+t.settle)
				}
				if before == 2 {
					v += math.Log1p(-t.after)
				}
				before = run
				add(&slots[run], math.Exp(v), later, place)
			}
		}
		for run, cell := range []*result.Cell{host, host, route} {
			values := slots[run].Values["throughput"]
			cell.Samples = append(cell.Samples, result.Sample{
				Block: block, Layout: []string{LayoutA, LayoutB, ""}[run], Slots: &slots[run],
				Metrics: map[string]float64{"throughput": values[draw.IntN(len(values))]},
			})
		}
	}
	return GroupsOf([]*result.Cell{host, route})[0]
}

func add(s *result.Slots, value, later float64, place int) {
	if s.Values == nil {
		s.Values, s.Later = map[string][]float64{}, map[string][]float64{}
	}
	s.Values["throughput"] = append(s.Values["throughput"], value)
	s.Later["throughput"] = append(s.Later["throughput"], later)
	s.Places = append(s.Places, place)
}

// What all slots of a cycle share is no noise of a toll.
func TestSlotsArePairedWithinTheirCycles(t *testing.T) {
	g := turns{toll: 0.25, shared: 0.5, own: 0.01}.group()
	for _, p := range Pairs(BlocksOf(g.Cells[1], "throughput"), BlocksOf(g.Baseline, "throughput")) {
		toll := math.Sqrt(p.Baselines[0]*p.Baselines[1])/p.Cell - 1
		if len(p.Baselines) != 2 || math.Abs(toll-0.25) > 0.02 {
			t.Errorf("a block's toll is %v, want 0.25: %+v", toll, p)
		}
	}
	for _, p := range BlocksOf(g.Baseline, "throughput").AA() {
		if apart := math.Abs(math.Log(p.Cell / p.Baselines[0])); apart > 0.02 {
			t.Errorf("the baselines of a block are apart by %v: %+v", apart, p)
		}
	}
}

func TestCyclesThatLackASlotAreLeftOut(t *testing.T) {
	pair := inCycles([]float64{2, 0, 2, 2, 50, 2}, []float64{1, 9, 1, 1, 0}, []float64{1, 1, 1, 1, 1})
	if !(math.Abs(pair.Cell-2) < 1e-9 && math.Abs(pair.Baselines[0]-1) < 1e-9) { // nor are they NaN
		t.Errorf("with three whole cycles of 2 against 1: %+v", pair)
	}
	if pair := inCycles([]float64{2, 0, 2}, []float64{1, 1, 1}); !math.IsNaN(pair.Cell) {
		t.Errorf("two whole cycles were enough: %+v", pair)
	}
}

func TestRunsNeedWholeCyclesWithTheirBaselines(t *testing.T) {
	run := func(values ...float64) result.Sample {
		return result.Sample{Slots: &result.Slots{Values: map[string][]float64{"throughput": values}}}
	}
	base := run(1, 1, 1, 0, 1)
	labtest.Equal(t, "three whole cycles are enough", Paired("throughput", run(0, 2, 2, 2, 2), base, run(1, 1, 1, 1, 1)), true)
	labtest.Equal(t, "two are", Paired("throughput", run(0, 2, 2, 2, 2), base, run(1, 0, 1, 1, 1)), false)
	labtest.Equal(t, "a window has any", Paired("throughput", run(1, 1, 1), result.Sample{}), false)
	labtest.Equal(t, "or needs any", Paired("throughput", result.Sample{}, base), false)
}

func TestCarryOverIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		turns
		effect [2]float64
		chance [2]float64
		bias   float64
	}{
		"none":                                {turns{toll: 1, shared: 0.3, own: 0.1}, [2]float64{0, 0.004}, [2]float64{0.05, 1}, 0},
		"a slot after route is slow":          {turns{toll: 1, shared: 0.3, own: 0.1, after: 0.1}, [2]float64{0.02, 0.06}, [2]float64{0, 0.01}, 0},
		"a slot after route, which is second": {turns{own: 0.1, after: 0.1, place: 1}, [2]float64{0.02, 0.06}, [2]float64{0, 0.01}, 0},
		"a slot after route, which is last":   {turns{own: 0.1, after: 0.1, place: 2}, [2]float64{0.02, 0.06}, [2]float64{0, 0.01}, 0},
		"route is slow to begin":              {turns{own: 0.1, settle: 0.05}, [2]float64{0, 0.01}, [2]float64{0.05, 1}, 0.05},
		"route is fast to begin":              {turns{own: 0.1, settle: -0.05}, [2]float64{0, 0.01}, [2]float64{0.05, 1}, -0.05},
	} {
		all := CarryOvers([]*Group{test.group()})
		if len(all) != 1 {
			t.Fatalf("%s: %+v", name, all)
		}
		c := all[0]
		in := func(v float64, span [2]float64) bool { return v >= span[0] && v <= span[1] }
		if !in(c.Effect, test.effect) || !in(c.Chance, test.chance) || math.Abs(c.Bias-test.bias) > 1e-9 || c.Slots != 720 || c.Lost != 0 || c.Length != 0.01 {
			t.Errorf("%s: %+v, want an effect in %v by a chance in %v, and a bias of %v", name, c, test.effect, test.chance, test.bias)
		}
	}
}

// The same slots give the same effect, to the last digit.
func TestEffectIsTheSameEachTime(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	var values []float64
	var kind []int
	for n := range 200 {
		values, kind = append(values, draw.NormFloat64()), append(kind, n%20)
	}
	first := between(values, kind)
	for range 100 {
		labtest.Equal(t, "variance", between(values, kind), first)
	}
}
