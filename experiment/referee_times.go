package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tare/result"
	"tare/weigh"
)

const (
	// overLoop is by how much a closed loop may have more in flight than it has
	// connections: the first and last of a window are counted by halves.
	overLoop = 0.05
	// overOrder is by how much a time may be beyond one that it can't be beyond: a percentile is the
	// edge of a bucket of a histogram, which those of sysbench have 1.8 % apart.
	overOrder = 0.03
	// overRun is by how much a time may exceed the run that it is of, which begins before the window.
	overRun, besideRun = 0.1, 1.0 // a ratio, and s
)

// moreUnderWay checks a closed loop by Little's law: its rate times its mean time is how many
// requests are in flight, which cannot be more than its connections have. The times of a tool that adds
// to them (wrk, for coordinated omission) are not those of the requests that its rate counts.
func moreUnderWay(cell *result.Cell) (metric, warning string) {
	each := weigh.Metric(cell, "latency_mean")
	if each == nil {
		each = weigh.Metric(cell, "rtt_mean")
	}
	rate, number := known(cell, "rate"), cell.Params.Number
	loops := slices.Max([]float64{number("connections"), number("flows"), number("threads")}) * max(1, number("pipelining"))
	if each == nil || each.Corrected() || math.IsNaN(rate) || loops == 0 || cell.Params.Has("rate") {
		return "", ""
	}
	if under := rate * each.Value; under > loops*(1+overLoop) {
		return "rate", fmt.Sprintf("too-many-under-way: rate and mean time imply %.1f in flight, and there were %.0f connections: they had more than one request at a time (pipelining), or the mean is not that of the requests that the rate counts", under, loops)
	}
	return "", ""
}

// timesOutOfOrder looks for a percentile below a lower one, and for one, or a mean, that is not
// between the shortest and the longest time.
func timesOutOfOrder(cell *result.Cell) (metric, warning string) {
	for _, kind := range timeKinds() {
		order := percentilesOf(cell, kind)
		for n := 1; n < len(order); n++ {
			if order[n].value < order[n-1].value {
				return order[n].name, fmt.Sprintf("percentiles-out-of-order: %s is below %s", order[n].name, order[n-1].name)
			}
		}
		for _, m := range timesOf(cell, kind) {
			if most, has := onlyCounter(cell, kind+"_max"); has && m.Value > most*(1+overOrder) {
				return m.Name, fmt.Sprintf("above-the-longest: %s is %.3g s, and the longest time %.3g s", m.Name, m.Value, most)
			}
			if least, has := onlyCounter(cell, kind+"_min"); has && m.Value < least*(1-overOrder) {
				return m.Name, fmt.Sprintf("below-the-shortest: %s is %.3g s, and the shortest time %.3g s", m.Name, m.Value, least)
			}
		}
	}
	return "", ""
}

// timeKinds are how the names of times begin.
func timeKinds() []string { return []string{"rtt", "latency", "latency_one_way", "jitter"} }

// percentile is one of a cell's times, as a metric or a counter.
type percentile struct {
	name           string
	percent, value float64
}

// percentilesOf are those of a kind, in the order of what they are percentiles of.
func percentilesOf(cell *result.Cell, kind string) []percentile {
	var all []percentile
	add := func(name string, value float64) {
		digits, found := strings.CutPrefix(name, kind+"_p")
		if digits == "999" {
			digits = "99.9"
		}
		if percent, err := strconv.ParseFloat(strings.ReplaceAll(digits, "_", "."), 64); found && err == nil {
			all = append(all, percentile{name, percent, value})
		}
	}
	for _, m := range cell.Metrics {
		add(m.Name, m.Value)
	}
	if len(cell.Samples) == 1 {
		for name, value := range cell.Samples[0].Counters {
			add(name, value)
		}
	}
	slices.SortFunc(all, func(a, b percentile) int { return cmp.Compare(a.percent, b.percent) })
	return all
}

// longerThanItsRun looks for a time that is longer than all of the run.
func longerThanItsRun(cell *result.Cell) (metric, warning string) {
	took := wholeRun(cell)
	if took <= 0 {
		return "", ""
	}
	for _, kind := range timeKinds() {
		for _, m := range timesOf(cell, kind) {
			if m.Value > took*(1+overRun)+besideRun {
				return m.Name, fmt.Sprintf("longer-than-its-run: %s is %.4g s, and the run took %.4g s", m.Name, m.Value, took)
			}
		}
	}
	return "", ""
}

// countAgainstRate compares a rate with what was counted over the time that it took.
func countAgainstRate(cell *result.Cell) (metric, warning string) {
	rate, took := known(cell, "rate"), wholeRun(cell)
	for _, name := range []string{"requests", "transactions", "events", "containers"} {
		count, has := onlyCounter(cell, name)
		if !has || math.IsNaN(rate) || took <= 0 {
			continue
		}
		if math.Abs(count-rate*took) > overCount*max(count, rate*took)+besideCount {
			return "rate", fmt.Sprintf("rate-against-count: %.4g/s for %.4g s make %.4g %s, and %.0f were counted", rate, took, rate*took, name, count)
		}
	}
	return "", ""
}

// wholeRun is how long a run took that counted from its beginning to its end, s; 0: not known. With a
// warm-up, its window is a part of it.
func wholeRun(cell *result.Cell) float64 {
	if cell.Params.Has("warmup") {
		return 0
	}
	return cell.Params.Number("duration")
}

// besideCount is how many more or fewer may be counted than a rate makes, at the ends of a run.
const besideCount = 2

// timesOf are the metrics of a kind that are times of answers.
func timesOf(cell *result.Cell, kind string) []result.Metric {
	names := []string{kind, kind + "_mean", kind + "_p50", kind + "_p90", kind + "_p95", kind + "_p99", kind + "_p999"}
	return slices.DeleteFunc(slices.Clone(cell.Metrics), func(m result.Metric) bool { return !slices.Contains(names, m.Name) })
}

// onlyCounter is a counter of the only window of a run.
func onlyCounter(cell *result.Cell, name string) (float64, bool) {
	if len(cell.Samples) != 1 {
		return 0, false
	}
	v, has := cell.Samples[0].Counters[name]
	return v, has
}
