package peers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tare/result"
	"tare/stats"
	"tare/workload"
)

// outcome is a row at one placement as measured.
type outcome struct {
	row
	Placement string
	Headline  bool
	Blocks    []map[string]values // by the subject's name; a run that failed has none
	Commands  []string
	Missing   []workload.Program // not installed
	failed    map[string]int     // runs, by name
	failure   map[string]string  // the last one's cause
}

// The verdicts on a claim that is not only shown.
const (
	holds        = "holds"
	holdsNot     = "does not hold"
	inconclusive = "inconclusive"
)

// comparison is how tare compares in one claim.
type comparison struct {
	claim
	quantity     result.Quantity
	other        string         // what it is compared with; empty: no tool measured it
	mine, theirs float64        // medians
	ratio        stats.Interval // of tare to the other
	pairs        int            // blocks that measured both
	verdict      string
}

// weigh weighs one claim of an outcome.
func (out *outcome) weigh(c claim) comparison {
	quantity, _ := result.QuantityOf(c.Metric)
	st := comparison{claim: c, quantity: quantity, other: c.Than, verdict: inconclusive}
	if c.Than == "" {
		st.other = out.best(quantity)
	}
	mine, theirs := out.column(ours(c.Ours), c.Metric), out.column(st.other, c.Metric)
	st.mine, st.theirs = median(mine), median(theirs)
	blocks := make([]stats.Block, len(out.Blocks))
	for n := range blocks {
		blocks[n] = stats.Block{Cell: mine[n], Baselines: []float64{theirs[n]}}
	}
	logs := stats.LogRatios(blocks)
	centre, _ := stats.HodgesLehmann(logs)
	st.pairs = len(logs)
	st.ratio = stats.Interval{Value: math.Exp(centre.Value), Low: math.Exp(centre.Low), High: math.Exp(centre.High)}
	st.verdict = judge(st.ratio, c.Bound, quantity.Better)
	return st
}

// judge holds the whole interval of a ratio against the bound; 0: it is only shown.
func judge(ratio stats.Interval, bound float64, better result.Better) string {
	least, most := ratio.Low, ratio.High
	if better == result.Lower { // the same question of the ratio the other way round
		least, most, bound = 1/ratio.High, 1/ratio.Low, 1/bound
	}
	switch {
	case bound == 0 || math.IsInf(bound, 1):
		return ""
	case least >= bound:
		return holds
	case most < bound:
		return holdsNot
	}
	return inconclusive
}

// best is the peer with the best median of a metric.
func (out *outcome) best(q result.Quantity) string {
	name, top := "", math.NaN()
	for _, sub := range out.subjects {
		of := sub.name()
		m := median(out.column(of, q.Name))
		if sub.program.Name == "" || math.IsNaN(m) {
			continue
		}
		if name == "" || (q.Better == result.Higher) == (m > top) {
			name, top = of, m
		}
	}
	return name
}

// column is a subject's values of a metric, one for each block, NaN where it
// has none.
func (out *outcome) column(name, metric string) []float64 {
	column := make([]float64, len(out.Blocks))
	for n, block := range out.Blocks {
		value, measured := block[name][metric]
		if !measured {
			value = math.NaN()
		}
		column[n] = value
	}
	return column
}

// median of those that are numbers; NaN where none is.
func median(column []float64) float64 {
	return stats.Median(slices.DeleteFunc(slices.Clone(column), math.IsNaN))
}

// Comparisons are those of the row's claims.
func (out *outcome) Comparisons() (all []comparison) {
	for _, c := range out.Claims {
		all = append(all, out.weigh(c))
	}
	return all
}

// String is a row of the summary, from the measure to the verdict.
func (c comparison) String() string {
	bound := ""
	if sign := map[bool]string{true: "≤", false: "≥"}[c.quantity.Better == result.Lower]; c.Bound != 0 {
		bound = fmt.Sprintf("%s %.2f", sign, c.Bound)
	}
	return strings.Join([]string{
		measureName(c.Metric), c.Ours, scaled(c.mine, c.quantity), cmp.Or(c.other, "nobody"), scaled(c.theirs, c.quantity),
		ratioText(c.ratio), bound, c.verdict,
	}, " | ")
}

// metrics are those that the row's claims are about, in their order.
func (out *outcome) metrics() (all []string) {
	for _, c := range out.Claims {
		all = result.AddOnce(all, c.Metric)
	}
	return all
}

// Measures are the heads of the table of every tool.
func (out *outcome) Measures() []string {
	return result.Names(out.metrics(), measureName)
}

// Table has a row for each subject of the row, tare first.
func (out *outcome) Table() (rows [][]string) {
	for _, sub := range out.subjects {
		row := []string{sub.name()}
		for _, m := range out.metrics() {
			quantity, _ := result.QuantityOf(m)
			row = append(row, scaled(median(out.column(row[0], m)), quantity))
		}
		rows = append(rows, row)
	}
	return rows
}

// Failures are the subjects that failed in some blocks.
func (out *outcome) Failures() (all []string) {
	for _, sub := range out.subjects {
		name := sub.name()
		if n := out.failed[name]; n > 0 {
			cause, _, _ := strings.Cut(out.failure[name], "\n")
			all = append(all, fmt.Sprintf("%s failed in %d of %d blocks, the last time: %s", name, n, len(out.Blocks), cause))
		}
	}
	return all
}

// none is printed where there is no figure.
const none = "–"

// measureName is a metric as the page calls it.
func measureName(metric string) string {
	names := map[string]string{
		"throughput": "goodput", "rate": "per second", "rtt_p50": "round trip, median", "rtt_p99": "round trip, p99",
		"rtt_mean": "round trip, mean", perGbit: "CPU per Gbit", perTransaction: "CPU each",
	}
	return cmp.Or(names[metric], metric)
}

// scaled writes a value in a unit that people read.
func scaled(value float64, q result.Quantity) string {
	switch {
	case math.IsNaN(value):
		return none
	case q.Name == perGbit:
		return fmt.Sprintf("%.2f ms", value*1e3)
	case q.Unit == "bit/s":
		return fmt.Sprintf("%.2f Gbit/s", value*1e-9)
	case q.Unit == "1/s":
		return fmt.Sprintf("%.1f k/s", value*1e-3)
	case q.Unit == "s":
		return fmt.Sprintf("%.2f µs", value*1e6)
	}
	return fmt.Sprintf("%.4g %s", value, q.Unit)
}

// ratioText writes a ratio with its interval, where the blocks have one.
func ratioText(r stats.Interval) string {
	switch {
	case math.IsNaN(r.Value):
		return none
	case math.IsInf(r.High, 1):
		return fmt.Sprintf("%.3f", r.Value)
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", r.Value, r.Low, r.High)
}
