package report

import (
	"math"
	"slices"
	"time"

	"tare/catalog"
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// answer is what a report says first: what every network costs on every path, and
// what follows from that. Each of its facts is one of the matrix.
type answer struct {
	matrix
	between       betweenMachines
	than          *result.Comparison // of the networks with the one that the plan names; nil: it names none
	ratios, times resolution
	fault         *fault     // what is broken; nil: nothing is
	most          *costliest // the largest toll of a network that is slower; nil: none is
	modelled      *costliest // the same under an interface or a link that only the lab has, beside the machine's
	emulated      bool       // no time is a machine's, so nothing follows from the tolls
	least         []cheapest
	unknown       []cheapest // those that may be it, and of which no toll is decided
	without       []string   // the cheapest between hosts that are not neighbours on one link, if others
	faster        []gain
	open          undecided
	failed        []failure
}

// resolution is from which toll on a verdict is to be expected: the margin and half
// an interval.
type resolution struct {
	median, worst float64 // of the metrics' unit, or a ratio; 0: unknown
	metrics       []string
}

// cheapest are the networks that cost least on some paths, and cannot be distinguished.
type cheapest struct {
	networks, paths []string
}

// failure is a network that could not be measured on a path.
type failure struct {
	network, path, reason string
}

// gain is a network that is faster than the baseline.
type gain struct {
	place
	dearer bool // it is known to take more CPU for the same work
}

// undecided counts what was inconclusive, and what would change that.
type undecided struct {
	done      int // blocks
	tolls, of int
	blocks    int           // with which most of those that can have a verdict would; 0: none can
	then      int           // how many those are
	takes     time.Duration // that so many blocks take; 0: unknown
	looks     bool          // the run spends its time where it is needed: it needs time, not blocks
}

// answerOf finds the facts of a result; ok is false where it has no tolls:
// then only what is between its machines is known.
func answerOf(res *result.Result, groups []*weigh.Group) (a answer, ok bool) {
	a.matrix, a.between = matrixOf(res.Plan, groups), betweenOf(res, groups)
	a.than = thanOf(res)
	if len(a.rows) == 0 {
		return a, false
	}
	a.resolve()
	a.findOpen(res)
	if a.emulated = res.Environment.Emulated(); a.hasIntervals() && !a.emulated {
		a.most, a.modelled = a.costliest()
		a.findLeast(res.Plan.Margin)
		a.findFaster()
	}
	a.findFailed(res)
	a.fault = faultOf(res, a.most)
	return a, true
}

// hasIntervals reports whether any toll of the matrix has an interval, without which
// nothing follows from it.
func (a *answer) hasIntervals() bool { return a.ratios.median > 0 || a.times.median > 0 }

// findFailed lists what failed, each network and path once, whether the matrix has
// them or not.
func (a *answer) findFailed(res *result.Result) {
	for _, c := range res.Cells {
		known := slices.ContainsFunc(a.failed, func(f failure) bool { return f.network == c.Network && f.path == c.Path })
		if c.Status == result.StatusFailed && !known {
			a.failed = append(a.failed, failure{c.Network, c.Path, c.Reason})
		}
	}
}

// resolve finds how finely the tolls of the matrix are known.
func (a *answer) resolve() {
	var ratios, times []float64
	for p := range a.tolls() {
		if p.metric.Unit == "s" && p.metric == p.field.added {
			times = a.times.add(times, p, finestAdded(p.metric))
		} else {
			ratios = a.ratios.add(ratios, p, finestRatio(p.metric.Toll))
		}
	}
	if len(ratios) > 0 {
		a.ratios.median = median(ratios)
	}
	if len(times) > 0 {
		a.times.median = median(times)
	}
}

func (r *resolution) add(all []float64, p place, finest float64) []float64 {
	if !(finest > 0) || math.IsInf(finest, 0) {
		return all
	}
	r.metrics = result.AddOnce(r.metrics, p.metric.Name)
	r.worst = max(r.worst, finest)
	return append(all, finest)
}

// finestRatio is the least toll with a verdict where this one was measured; 0:
// it has no interval.
func finestRatio(t *result.Toll) float64 {
	if t.Low == nil || t.High == nil {
		return 0
	}
	return t.Margin + math.Abs(*t.High-*t.Low)/2
}

// finestAdded is the same as a difference in the metric's unit.
func finestAdded(m *result.Metric) float64 {
	d := m.Toll.Delta
	if d.Low == nil || d.High == nil || m.Baseline == nil {
		return 0
	}
	return m.Toll.Margin*m.Baseline.Value + math.Abs(*d.High-*d.Low)/2
}

// timesWorse is how many times as bad as its baseline a metric is. So a lost share of the
// throughput is comparable with a longer round trip: -75 % and +300 % are four times.
func timesWorse(m *result.Metric) float64 {
	if m.Better == result.Higher {
		return 1 / (1 - m.Toll.Value)
	}
	return 1 + m.Toll.Value
}

// mostLeast is up to how many networks are named as the cheapest: if more cannot be
// distinguished, the run does not know it.
const mostLeast = 2

// findLeast finds the networks that cost least on each path.
func (a *answer) findLeast(margin float64) {
	for n, c := range a.columns {
		if c.under != a.columns[0].under {
			continue
		}
		networks := leastOf(c.groups, nil, margin)
		if len(networks) == 0 || len(networks) > mostLeast || a.most.on(c.path, networks) {
			continue
		}
		if c.path == catalog.CrossHost {
			apart := leastOf(c.groups, []string{"no-l2"}, margin)
			if len(apart) > 0 && len(apart) <= mostLeast && !slices.Equal(apart, networks) && len(a.undecided(n, apart)) == 0 {
				a.without = apart
			}
		}
		if open := a.undecided(n, networks); len(open) > 0 {
			a.unknown = addCheapest(a.unknown, open, c.path)
			continue
		}
		a.least = addCheapest(a.least, networks, c.path)
	}
}

// addCheapest adds a path to those of its networks.
func addCheapest(all []cheapest, networks []string, path string) []cheapest {
	at := slices.IndexFunc(all, func(l cheapest) bool { return slices.Equal(l.networks, networks) })
	if at < 0 {
		at = len(all)
		all = append(all, cheapest{networks: networks})
	}
	all[at].paths = append(all[at].paths, path)
	return all
}

// undecided are those of some networks that have only inconclusive tolls in a column, as the
// machine has them.
func (m matrix) undecided(column int, networks []string) []string {
	return slices.DeleteFunc(slices.Clone(networks), func(name string) bool {
		return slices.ContainsFunc(m.rows, func(r matrixRow) bool {
			f := r.fields[column]
			return r.network == name && !r.modelled && (decided(f.ratio) || decided(f.added))
		})
	})
}

// decided reports whether a metric has a toll with a verdict.
func decided(m *result.Metric) bool { return m != nil && m.Toll != nil && !inconclusive(m.Toll) }

// leastOf are the networks that are in the first place of each group, where there is
// any other network.
func leastOf(groups []*weigh.Group, demands []string, margin float64) []string {
	var least []string
	for n, g := range groups {
		first, several := firstOf(g.Rank(demands, margin))
		switch {
		case !several && len(demands) == 0:
			return nil
		case n == 0:
			least = first
		default:
			least = slices.DeleteFunc(least, func(name string) bool { return !slices.Contains(first, name) })
		}
	}
	return least
}

// firstOf are the networks in the first place of a ranking, and whether it has
// several: containers without a network between them are no choice.
func firstOf(r result.Ranking) (first []string, several bool) {
	var all []string
	place := 0
	for _, one := range r.Ranked {
		if n, _ := catalog.FindNetwork(one.Network); n.Least {
			continue
		}
		if place == 0 {
			place = one.Place
		}
		if one.Place == place && !slices.Contains(first, one.Network) {
			first = append(first, one.Network)
		}
		all = result.AddOnce(all, one.Network)
	}
	return first, len(all) > 1
}

// findFaster finds the networks that were faster than the baseline.
func (a *answer) findFaster() {
	for p := range a.tolls() {
		if p.metric.Toll.Verdict != string(stats.Faster) {
			continue
		}
		g := gain{place: p}
		for _, c := range p.field.measured() {
			if m := weigh.Metric(c, weigh.CostName(c)); m != nil && m.Toll != nil && m.Toll.Verdict == string(stats.Slower) {
				g.dearer = true
			}
		}
		a.faster = append(a.faster, g)
	}
}

// findOpen counts the inconclusive tolls, and finds how many blocks would decide
// three in four of those that blocks can decide.
func (a *answer) findOpen(res *result.Result) {
	_, a.open.done = measured(res)
	a.open.looks = res.Plan.Looks
	var needed []int
	for p := range a.tolls() {
		a.open.of++
		if inconclusive(p.metric.Toll) {
			a.open.tolls++
			if n := p.metric.Toll.BlocksToSay; n > 0 {
				needed = append(needed, n)
			}
		}
	}
	if len(needed) == 0 {
		return
	}
	slices.Sort(needed)
	a.open.blocks = needed[(3*len(needed)-1)/4]
	for _, n := range needed {
		if n <= a.open.blocks {
			a.open.then++
		}
	}
	begun, err := time.Parse(time.RFC3339, res.Started)
	ended, err2 := time.Parse(time.RFC3339, res.Finished)
	if done := a.open.done; err == nil && err2 == nil && done > 0 && ended.After(begun) {
		a.open.takes = ended.Sub(begun) / time.Duration(done) * time.Duration(a.open.blocks)
	}
}
