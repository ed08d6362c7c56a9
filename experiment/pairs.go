package experiment

import (
	"fmt"
	"slices"
	"strings"

	"tare/result"
	"tare/stats"
	"tare/weigh"
)

// PairsOf chooses n pairs of machines: first those that are next to each other, then further
// ones, so that each machine is in as many as any other (a round robin by the circle method).
// 0: each machine is in one. An *InputError says why there are not so many.
func PairsOf(machines []string, n int) ([][]string, error) {
	if n == 0 {
		n = len(machines) / 2
		if len(machines)%2 == 1 {
			return nil, &InputError{fmt.Sprintf("machines %s: an odd number leaves one without a pair: name one more, or choose how many --pairs are measured", strings.Join(machines, ", "))}
		}
	}
	var all [][]string
	circle := circleOf(machines)
	for range len(circle) - 1 {
		for at := range len(circle) / 2 {
			if one, other := circle[at], circle[len(circle)-1-at]; one != "" && other != "" {
				all = append(all, []string{one, other})
			}
		}
		circle = slices.Insert(circle[:len(circle)-1], 1, circle[len(circle)-1])
	}
	if n > len(all) {
		return nil, &InputError{fmt.Sprintf("pairs %d: %d machines make %d: name more machines, or ask for fewer", n, len(machines), len(all))}
	}
	return all[:n], nil
}

// circleOf seats machines so that neighbours in the list face each other. Who faces nobody, in
// an odd number, has no pair in that round.
func circleOf(machines []string) []string {
	circle := make([]string, len(machines)+len(machines)%2)
	for n, machine := range machines {
		if n%2 == 0 {
			circle[n/2] = machine
		} else {
			circle[len(circle)-1-n/2] = machine
		}
	}
	return circle
}

// OfPairs is what a plan measured on several pairs of machines, as one result: each pair is one
// block of it. nil: none has measured anything.
func OfPairs(pairs []result.MachinePair, results []*result.Result) *result.Result {
	var joined *result.Result
	for block, one := range results {
		if one == nil {
			continue
		}
		if joined == nil {
			joined = &result.Result{
				Schema: result.Schema, ID: one.ID, Tool: one.Tool, Site: one.Site, Plan: one.Plan, Environment: one.Environment,
				Started: one.Started, Noise: result.Noise{AA: []result.AA{}}, Findings: []result.Finding{}, Warnings: []string{}, Pairs: pairs,
			}
		}
		joined.Noise.Steal = max(joined.Noise.Steal, one.Noise.Steal)
		joined.Noise.Pressure = max(joined.Noise.Pressure, one.Noise.Pressure)
		joined.Noise.ForeignCPU = max(joined.Noise.ForeignCPU, one.Noise.ForeignCPU)
		addPair(joined, one.Cells, block)
	}
	if joined == nil {
		return nil
	}
	var cells []*result.Cell
	for n := range joined.Cells {
		cells = append(cells, &joined.Cells[n])
	}
	joined.Noise.AA = weigh.Result(cells, weigh.Options{Margin: joined.Plan.Margin, Warnings: func(*result.Cell) []string { return nil }, Last: true})
	joined.Warnings = append(joined.Warnings, ofPairs(pairs)...)
	return joined
}

// ofPairs says what the blocks of a joined result are, and which pairs are not in it.
func ofPairs(pairs []result.MachinePair) []string {
	var names, warnings []string
	for _, p := range pairs {
		name := strings.Join(p.Machines, " and ")
		if p.Reason != "" {
			warnings = append(warnings, fmt.Sprintf("pair: %s are not, or not wholly, in it: %s", name, p.Reason))
		}
		if len(p.Cells) > 0 {
			names = append(names, name)
		}
		for _, c := range p.Cells {
			if c.Status == result.StatusFailed {
				warnings = append(warnings, fmt.Sprintf("pair: %s on %s under %s was not measured between %s: %s", c.Network, c.Path, c.Workload, name, c.Reason))
			}
		}
	}
	return append([]string{fmt.Sprintf("pairs: each block is a pair of machines: %s", strings.Join(names, "; "))}, warnings...)
}

// addPair adds what one pair measured as a block of each cell.
func addPair(to *result.Result, cells []result.Cell, block int) {
	for _, c := range cells {
		at := slices.IndexFunc(to.Cells, func(known result.Cell) bool {
			return known.Group == c.Group && known.Network == c.Network && known.Params.Settings() == c.Params.Settings()
		})
		if at < 0 {
			at = len(to.Cells)
			empty := c
			empty.Samples, empty.Metrics, empty.Findings = []result.Sample{}, []result.Metric{}, []result.Finding{}
			to.Cells = append(to.Cells, empty)
		}
		known := &to.Cells[at]
		if c.Status == result.StatusOK && known.Status != result.StatusOK {
			known.Status, known.Reason = c.Status, "" // one pair that measured it is enough to have it
		}
		known.Samples = append(known.Samples, ofPair(c, block)...)
	}
}

// ofPair is what a cell measured on one pair: for each layout a sample, with the median of each
// metric and the mean of each counter.
func ofPair(c result.Cell, block int) (samples []result.Sample) {
	for _, layout := range []string{"", weigh.LayoutA, weigh.LayoutB} {
		metrics, sums, n := map[string][]float64{}, map[string]float64{}, 0.0
		for _, s := range c.Samples {
			if s.Layout != layout {
				continue
			}
			for name, value := range s.Metrics {
				metrics[name] = append(metrics[name], value)
			}
			for name, value := range s.Counters {
				sums[name] += value
			}
			n++
		}
		if n == 0 {
			continue
		}
		sample := result.Sample{
			Block: block, Layout: layout, Metrics: map[string]float64{}, Series: map[string][]float64{}, Counters: map[string]float64{},
			Readings: []result.Reading{}, Warnings: []string{},
		}
		for name, values := range metrics {
			sample.Metrics[name] = stats.Median(values)
		}
		for name, sum := range sums {
			sample.Counters[name] = sum / n
		}
		samples = append(samples, sample)
	}
	return samples
}
