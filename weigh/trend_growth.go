package weigh

import (
	"cmp"
	"math"
	"slices"

	"tare/result"
	"tare/stats"
)

// grower is a quantity that may grow for as long as a lab or a machine is up.
type grower struct {
	name, source, unit string                       // of result.TrendGrowth
	of                 func(*result.Result) float64 // NaN: not known
}

// growing are they.
func growing() []grower {
	return []grower{
		{"tracked-connections", "/proc/sys/net/netfilter", "count", sumOf("/proc/sys/net/netfilter", "nf_conntrack_count")},
		{"fdb-entries", "bridge fdb", "count", entriesOf("bridge fdb")},
		{"neighbour-entries", "ip neighbour", "count", entriesOf("ip neighbour")},
		{"kernel-memory", "/proc/meminfo", "bytes", sumOf("/proc/meminfo", "SUnreclaim", "Percpu", "KernelStack")},
		{"used-memory", "/proc/meminfo", "bytes", func(res *result.Result) float64 {
			return sumOf("/proc/meminfo", "MemTotal")(res) - sumOf("/proc/meminfo", "MemAvailable")(res)
		}},
	}
}

// statesOf are the states of a source, also those that the round of a soak has.
func statesOf(res *result.Result, source string) (states []result.State) {
	all := res.States
	if res.Round != nil {
		all = slices.Concat(all, res.Round.States)
	}
	for _, state := range all {
		if state.Source == source {
			states = append(states, state)
		}
	}
	return states
}

func sumOf(source string, names ...string) func(*result.Result) float64 {
	return func(res *result.Result) float64 {
		sum, known := 0.0, false
		for _, state := range statesOf(res, source) {
			for _, name := range names {
				if v, is := state.Values[name].(float64); is {
					sum, known = sum+v, true
				}
			}
		}
		if !known {
			return math.NaN()
		}
		return sum
	}
}

func entriesOf(source string) func(*result.Result) float64 {
	return func(res *result.Result) float64 {
		states, sum := statesOf(res, source), 0
		for _, state := range states {
			sum += len(state.Values)
		}
		if len(states) == 0 {
			return math.NaN()
		}
		return float64(sum)
	}
}

// leastGrowth is the ratio of last to first from which a growth counts.
const leastGrowth = 1.05

// growths finds what grows in the rounds of the newest lab: another one begins anew.
func (s *trending) growths() {
	newest := s.newest()
	if newest.Round == nil {
		return
	}
	var rounds []Point
	for _, p := range s.points {
		if p.res.Round != nil && p.res.Round.Lab == newest.Round.Lab {
			rounds = append(rounds, p)
		}
	}
	all := growing()
	for n, g := range all {
		var values []float64
		for _, p := range rounds {
			if v := p.grown[n]; !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		slope, chance := stats.Rise(values)
		if chance > trendRate/float64(len(all)) || slope <= 0 {
			continue
		}
		// The ends of the line, which one value does not move.
		last := stats.Median(values[len(values)*3/4:])
		first := stats.Median(values[:cmp.Or(len(values)/4, 1)])
		if last >= leastGrowth*first {
			s.t.Growths = append(s.t.Growths, result.TrendGrowth{
				Name: g.name, Source: g.source, Unit: g.unit, First: first, Last: last, Slope: slope, Chance: chance,
			})
		}
	}
}
