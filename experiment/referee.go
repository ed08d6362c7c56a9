package experiment

import (
	"fmt"
	"math"
	"slices"

	"tare/catalog"
	"tare/lab"
	"tare/result"
	"tare/stats"
	"tare/weigh"
)

const (
	// overCeiling is how far above its ceiling a throughput is still taken for the
	// shaper's burst.
	overCeiling = 0.01
	// overCount is what two counts of the same may differ by that were not taken at
	// the same moment.
	overCount = 0.05
)

// Referee marks numbers of a result that can't be true together, whoever
// measured them, with a warning on each. What is not known is not checked.
func Referee(res *result.Result) {
	for n := range res.Cells {
		cell := &res.Cells[n]
		if cell.Status != result.StatusOK {
			continue
		}
		for _, judge := range []func(*result.Cell) (metric, warning string){
			aboveCeiling, fasterThanHost, moreUnderWay, timesOutOfOrder, longerThanItsRun, countAgainstRate, moreThanWasSent, lessThanOneProcess, smallerThanAsked,
		} {
			if metric, warning := judge(cell); warning != "" {
				warn(cell, metric, warning)
			}
		}
	}
}

// warn adds a warning to a metric, once; to the first metric if the cell lacks it.
func warn(cell *result.Cell, metric, warning string) {
	if len(cell.Metrics) == 0 {
		return
	}
	at := max(0, slices.IndexFunc(cell.Metrics, func(m result.Metric) bool { return m.Name == metric }))
	if m := &cell.Metrics[at]; !slices.Contains(m.Warnings, warning) {
		m.Warnings = append(m.Warnings, warning)
	}
}

// known is a metric's value; NaN: the cell has none.
func known(cell *result.Cell, name string) float64 {
	if m := weigh.Metric(cell, name); m != nil {
		return m.Value
	}
	return math.NaN()
}

func aboveCeiling(cell *result.Cell) (metric, warning string) {
	for _, m := range cell.Metrics {
		if m.Ceiling != nil && m.Ceiling.Value > 0 && m.Value > m.Ceiling.Value*(1+overCeiling) {
			return m.Name, fmt.Sprintf("above-ceiling: %.1f %% of the most that the wire carries for these headers: the link or the MTU is another, or it did not pass there", 100*m.Value/m.Ceiling.Value)
		}
	}
	return "", ""
}

// fasterThanHost looks at paths between hosts: within one the host has its
// loopback, which is another path.
func fasterThanHost(cell *result.Cell) (metric, warning string) {
	if cell.Network == catalog.Baseline || catalog.Within(cell.Path) {
		return "", ""
	}
	for _, m := range cell.Metrics {
		if result.Judged(m.Name) && m.Toll != nil && m.Toll.Verdict == string(stats.Faster) {
			return m.Name, fmt.Sprintf("faster-than-host: by %.1f %%, more than the noise: a container has all of its host's way to go, so look for an offload, a CPU or a path that differs", -100*m.Toll.Value)
		}
	}
	return "", ""
}

// moreThanWasSent compares what a receiver counted with what its sender counted, in
// each window.
func moreThanWasSent(cell *result.Cell) (metric, warning string) {
	for _, pair := range [][2]string{{"throughput", "offered_throughput"}, {"rate", "offered_rate"}} {
		for _, s := range cell.Samples {
			got, has := s.Metrics[pair[0]]
			sent, known := s.Counters[pair[1]]
			if !known {
				sent, known = s.Metrics[pair[1]]
			}
			_, counts := s.Metrics["loss"] // both ends then counted the same packets
			if has && known && counts && sent > 0 && got > sent*(1+overCount) {
				return pair[0], fmt.Sprintf("more-than-sent: a window received %.1f %% of what was sent in it", 100*got/sent)
			}
		}
	}
	return "", ""
}

// lessThanOneProcess compares the CPU time of the whole machine with that of the
// thread that measured, which is part of it.
func lessThanOneProcess(cell *result.Cell) (metric, warning string) {
	var whole, thread float64
	for _, s := range cell.Samples {
		whole += s.Counters["cpu_busy"]
		thread += s.Counters["thread_busy"] * s.Counters["window"]
	}
	tick := weigh.CPUTick * float64(len(cell.Samples))
	if whole > 0 && whole+tick < thread {
		return weigh.CostName(cell), fmt.Sprintf("cpu-of-the-whole: all CPUs together were busy for %.2f s, one thread alone for %.2f s", whole, thread)
	}
	return "", ""
}

// smallerThanAsked looks whether larger packets that were asked for are in force: TCP then
// sends more than 64 KiB at a time to a reader that keeps up.
func smallerThanAsked(cell *result.Cell) (metric, warning string) {
	if cell.Params.Number("gso_max") <= lab.LegacyLargest || cell.Workload != catalog.Bulk {
		return "", ""
	}
	var sizes []float64
	for _, s := range cell.Samples {
		if size := s.Counters["skb_bytes"]; size > 0 {
			sizes = append(sizes, size)
		}
	}
	mean, _ := stats.HodgesLehmann(sizes)
	if len(sizes) == 0 || mean.Value > lab.LegacyLargest {
		return "", ""
	}
	return "throughput", fmt.Sprintf("gso-max: packets have %.0f bytes on average: none larger than %d is in force, though %.0f were asked for", mean.Value, lab.LegacyLargest, cell.Params.Number("gso_max"))
}
