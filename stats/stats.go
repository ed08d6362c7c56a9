// Package stats turns the blocks of an experiment into estimates with
// intervals, and intervals into verdicts.
//
// A block measures a cell and its baseline (twice) within seconds, so that
// what disturbs the machine for longer disturbs both. The unit of analysis is
// the block: its log ratio of cell to baseline. Over the blocks it computes the
// Hodges-Lehmann estimate and the signed-rank interval (Hollander, Wolfe and
// Chicken, Nonparametric Statistical Methods, 3rd edition, sections 3.2 and
// 3.3), which neither an outlier nor an unknown spread misleads.
//
//   - signedrank.go: the estimate and its interval
//   - ranksum.go: the same for two runs that have no pairs
//   - toll.go: blocks to log ratios to a toll
//   - verdict.go: a toll and its margins to a verdict
//   - plan.go: how many blocks a verdict takes
//   - quantile.go: a percentile of single values
//   - sums.go: a ratio of sums, for cost per work
//   - share.go: a share of a toll
//   - looks.go: when a run that is looked at several times may stop
//   - beyond.go: the chance of values beyond a bound
//   - changepoint.go, rise.go: when a series of runs changes, and what grows over them
//   - growth.go: how a quantity grows with another
//   - student.go: percent points of Student's t
package stats

import "math"

// MinBlocks is the fewest blocks that have a two-sided 95 % signed-rank
// interval: of five, the widest covers 93.75 %.
const MinBlocks = 6

// Interval is an estimate with its two-sided 95 % confidence interval;
// Low <= Value <= High.
//
// Where the data hold too little for an interval, its ends are as far away as
// the quantity can be; where they hold no estimate, all three are NaN. The
// function that made it then returns ok = false. Such an interval claims nothing,
// makes every verdict inconclusive, and can't be written as JSON.
type Interval struct{ Value, Low, High float64 }

// through maps the interval by f, which increases. Rounding may cost f an ulp;
// the order of the three is kept.
func (i Interval) through(f func(float64) float64) Interval {
	value := f(i.Value)
	return Interval{Value: value, Low: min(f(i.Low), value), High: max(f(i.High), value)}
}

// mirrored is the interval of the negated quantity.
func (i Interval) mirrored() Interval {
	return Interval{Value: -i.Value, Low: -i.High, High: -i.Low}
}

// around is the interval that reaches equally far to both sides of value.
func around(value, halfWidth float64) Interval {
	return Interval{Value: value, Low: value - halfWidth, High: value + halfWidth}
}

// unbounded is an estimate of which nothing more is known.
func unbounded(value float64) Interval { return around(value, math.Inf(1)) }

// unknown is no estimate.
func unknown() Interval { return around(math.NaN(), math.NaN()) }
