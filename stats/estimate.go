package stats

import "math"

// Estimate is an estimated logarithm of a ratio, and what it is uncertain by: independent
// variances, which add up.
type Estimate struct {
	Value     float64
	Uncertain []Variance
}

// Variance is a variance and the degrees of freedom that it is known with: as many as an estimate
// from normal values would have.
type Variance struct{ Of, Freedom float64 }

// Times is the variance of a multiple of what it is the variance of, where the multiple's square is given.
func (v Variance) Times(square float64) Variance { return Variance{v.Of * square, v.Freedom} }

// Centre is the centre of x, of Hodges and Lehmann, with the variance that its signed-rank interval
// has, which outliers hardly widen. Simulated, Student's t with that variance covers 95 to 96 % for 7
// to 30 values, normal or with heavy tails, and is as often wrong as claimed at a rate of 0.001.
// ok is as for HodgesLehmann.
func Centre(x []float64) (Estimate, bool) {
	centre, ok := HodgesLehmann(x)
	if !ok {
		return Estimate{Value: centre.Value}, false
	}
	_, outside := criticalRank(len(x))
	return centre.estimate(outside, len(x)-1), true
}

// CentreShift is Shift as an estimate.
func CentreShift(x, y []float64) (Estimate, bool) {
	shift, ok := Shift(x, y)
	if !ok {
		return Estimate{Value: shift.Value}, false
	}
	_, outside := criticalRankSum(len(x), len(y))
	return shift.estimate(outside, len(x)+len(y)-2), true
}

// estimate is the one whose interval misses at each side at a rate.
func (i Interval) estimate(outside float64, freedom int) Estimate {
	deviation := (i.High - i.Low) / 2 / studentQuantile(1-outside, freedom)
	return Estimate{i.Value, []Variance{{deviation * deviation, float64(freedom)}}}
}

// And is the estimate with something more that it is uncertain by.
func (e Estimate) And(more ...Variance) Estimate {
	return Estimate{e.Value, append(e.Uncertain[:len(e.Uncertain):len(e.Uncertain)], more...)}
}

// variance is the sum of all, with the degrees of freedom of Satterthwaite (1946). Of an estimate
// without any it is infinite.
func (e Estimate) variance() Variance {
	if len(e.Uncertain) == 0 {
		return Variance{math.Inf(1), 1}
	}
	var all, squares float64
	for _, v := range e.Uncertain {
		if v.Of > 0 {
			all += v.Of
			squares += v.Of * v.Of / v.Freedom
		}
	}
	if all == 0 {
		return e.Uncertain[0]
	}
	return Variance{all, all * all / squares}
}

// mostFreedom is that from which Student's t is as good as normal here.
const mostFreedom = 200

func (v Variance) wholeFreedom() int { return int(math.Floor(min(max(v.Freedom, 1), mostFreedom))) }

// Interval misses at a rate: that of Student's t. It is unbounded where the estimate has no variance.
func (e Estimate) Interval(rate float64) Interval {
	v := e.variance()
	if math.IsInf(v.Of, 1) {
		return unbounded(e.Value)
	}
	return around(e.Value, studentQuantile(1-rate/2, v.wholeFreedom())*math.Sqrt(v.Of))
}

// Toll is the toll of an estimate, with the interval that misses at a rate.
func (e Estimate) Toll(direction Direction, rate float64) Interval {
	return direction.toll(e.Interval(rate))
}

// Chance is that of an estimate so far beyond a toll of the given size, on its own side of zero, were
// that the toll: one-sided, by Student's t. It is 1 where the estimate is not beyond. A ratio that is
// below one by the toll is below zero in log by more than one that is above.
func (e Estimate) Chance(least float64) float64 {
	v, bound := e.variance(), math.Log1p(least)
	if e.Value < 0 {
		bound = -math.Log1p(-least)
	}
	beyond := math.Abs(e.Value) - bound
	switch {
	case !(beyond > 0) || math.IsInf(v.Of, 1):
		return 1
	case v.Of == 0:
		return 0
	}
	return 1 - studentDistribution(beyond/math.Sqrt(v.Of), v.wholeFreedom())
}
