package mesh

import (
	"math"
	"slices"

	"tare/result"
	"tare/stats"
)

// observation is a measured window.
type observation struct {
	client, server int
	round          int     // place in the result
	left           float64 // its badness, or what of that the effects leave
}

// factor is one kind of effect: a value for each of its classes, a node for example. An
// observation is of up to two classes, once of each or twice of one.
type factor struct {
	name     string
	classes  int
	least    int // observations that a class needs for a value
	of       func(o observation) classes
	by       func(o observation) bool // the values come from such observations; nil: from all
	centre   func(values []float64, known []bool) []float64
	values   []float64
	known    []bool
	members  [][]int32 // observations, by class
	counting []int     // of them, from which the value comes
}

// classes are those of a factor that an observation is of: up to two, which may be the same.
type classes struct {
	class [2]int
	n     int
}

func one(class int) classes { return classes{[2]int{class}, 1} }

// and adds a class.
func (c classes) and(class int) classes {
	c.class[c.n] = class
	c.n++
	return c
}

// fit is one metric at one density, taken apart; or how much worse it is at the other.
type fit struct {
	seen    []observation
	factors []*factor
	spread  float64 // robust standard deviation of what is left of a window
}

// The names of factors.
const (
	ofAll     = "all"
	ofRound   = "round"
	ofNode    = "node"
	ofGroup   = "group"
	ofBetween = "between"
	ofUplink  = "uplink"
	ofCell    = "cell" // a pair of groups
)

const (
	// sweeps and still end the polish: so often at most, or once no effect moves by more.
	sweeps = 50
	still  = 1e-4
	// leastPartners is of how many nodes a node's effect must come.
	leastPartners = 3
	// leastOfGroup is how many nodes a group needs to be judged by itself: of fewer, it could be
	// a node.
	leastOfGroup = 3
)

// observed are the windows of a metric that rounds of a density measured.
func observed(res *result.Mesh, metric string, dense bool) []observation {
	var seen []observation
	badness := badnessOf(metric)
	for n := range res.Rounds {
		r := &res.Rounds[n]
		if r.Check != nil || r.Dense != dense {
			continue
		}
		for entry, value := range r.Values[metric] {
			if value > 0 {
				seen = append(seen, observation{r.Clients[entry], r.Servers[entry], n, badness(value)})
			}
		}
	}
	return seen
}

// newFit takes observations apart into factors.
func newFit(seen []observation, factors []*factor) *fit {
	f := &fit{seen: seen, factors: factors}
	for _, factor := range factors {
		factor.prepare(seen)
	}
	f.polish()
	return f
}

// badnessOf is the logarithm of a metric's values, larger where one is worse.
func badnessOf(metric string) func(value float64) float64 {
	if directionOf(metric) == stats.HigherIsBetter {
		return func(value float64) float64 { return -math.Log(value) }
	}
	return math.Log
}

func directionOf(metric string) stats.Direction {
	if q, _ := result.QuantityOf(metric); q.Better == result.Higher {
		return stats.HigherIsBetter
	}
	return stats.LowerIsBetter
}

// prepare finds the observations of each class.
func (f *factor) prepare(seen []observation) {
	f.values, f.known = make([]float64, f.classes), make([]bool, f.classes)
	f.members, f.counting = make([][]int32, f.classes), make([]int, f.classes)
	for n, o := range seen {
		of := f.of(o)
		for _, class := range slices.Compact(of.class[:of.n]) {
			f.members[class] = append(f.members[class], int32(n))
			if f.by == nil || f.by(o) {
				f.counting[class]++
			}
		}
	}
	for class, n := range f.counting {
		f.known[class] = n >= max(1, f.least)
	}
}

// times is how often an observation is of a class.
func (f *factor) times(o observation, class int) float64 {
	if f.of(o) == one(class).and(class) {
		return 2
	}
	return 1
}

// polish takes medians out of what is left, kind by kind and class by class, until they stay.
func (f *fit) polish() {
	for range sweeps {
		moved := 0.0
		for _, factor := range f.factors {
			moved = max(moved, f.sweep(factor))
		}
		if moved < still {
			break
		}
	}
	f.spread = f.deviation()
}

// deviation is the robust standard deviation of windows that nothing is wrong with.
func (f *fit) deviation() float64 {
	left := make([]float64, len(f.seen))
	for n, o := range f.seen {
		left[n] = o.left
	}
	return wide(left) * f.unfitted()
}

// unfitted is by what the deviation of what is left is to be multiplied, since as many windows
// as there are effects are left nothing.
func (f *fit) unfitted() float64 {
	effects := 0
	for _, factor := range f.factors {
		for _, known := range factor.known {
			if known {
				effects++
			}
		}
	}
	windows := float64(len(f.seen))
	return math.Sqrt(windows / max(windows-float64(effects), windows/4))
}

// sweep sets each class of a factor to the median of what the other effects leave it, one after
// another, and is by how much the one that moved most did.
func (f *fit) sweep(factor *factor) (moved float64) {
	for class := range factor.values {
		if factor.known[class] {
			was := factor.values[class]
			by := stats.Median(f.partial(factor, class)) - was
			f.move(factor, class, by)
			moved = max(moved, math.Abs(by))
		}
	}
	if factor.centre == nil {
		return moved
	}
	for class, by := range factor.centre(factor.values, factor.known) {
		if factor.known[class] {
			f.move(factor, class, -by)
		}
	}
	return moved
}

// partial is what the other effects leave to a class, in each observation from which its value
// comes.
func (f *fit) partial(factor *factor, class int) []float64 {
	values := make([]float64, 0, factor.counting[class])
	for _, n := range factor.members[class] {
		if o := f.seen[n]; factor.by == nil || factor.by(o) {
			values = append(values, factor.values[class]+o.left/factor.times(o, class))
		}
	}
	return values
}

func (f *fit) move(factor *factor, class int, by float64) {
	factor.values[class] += by
	for _, n := range factor.members[class] {
		f.seen[n].left -= by * factor.times(f.seen[n], class)
	}
}

// factor is that of a name; one without classes where the mesh has none.
func (f *fit) factor(name string) *factor {
	for _, factor := range f.factors {
		if factor.name == name {
			return factor
		}
	}
	return &factor{}
}

// mad is the robust standard deviation of values about their median, from the median of how far
// they are from it; 0: there are none.
func mad(values []float64) float64 { return deviationAt(values, 0.5, 0.6745) }

// wide is the robust standard deviation of what a polish leaves, which leaves many values
// nothing and so misleads a median: from what three quarters of all values do not exceed.
func wide(values []float64) float64 { return deviationAt(values, 0.75, 1.1503) }

// deviationAt is the standard deviation of a normal variable of which a share is no farther from
// the median than that share of the values. It is so many deviations away.
func deviationAt(values []float64, share, deviations float64) float64 {
	if len(values) == 0 {
		return 0
	}
	middle := stats.Median(values)
	away := make([]float64, len(values))
	for n, v := range values {
		away[n] = math.Abs(v - middle)
	}
	slices.Sort(away)
	return away[int(share*float64(len(away)))] / deviations
}
