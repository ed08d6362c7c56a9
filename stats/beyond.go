package stats

import (
	"cmp"
	"math"
	"slices"
)

// SignedRankBeyond is the chance of values so far above a bound, were their centre at it: the
// one-sided signed-rank test, exact up to 60 values. It is for values that an outlier may be
// among, and their number limits it: of n values it is 1/2^n at least. Values at the bound do
// not count. It is 1 where there are none, or where one is NaN or infinite.
func SignedRankBeyond(x []float64, bound float64) float64 {
	if slices.ContainsFunc(x, notFinite) {
		return 1
	}
	var away []float64
	for _, v := range x {
		if v != bound {
			away = append(away, v-bound)
		}
	}
	slices.SortFunc(away, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	below := 0 // the sum of ranks
	for rank, v := range away {
		if v < 0 {
			below += rank + 1
		}
	}
	if n := float64(len(away)); len(away) > exactBlocks {
		sd := math.Sqrt(n * (n + 1) * (2*n + 1) / 24)
		return 0.5 * math.Erfc((n*(n+1)/4-float64(below)-0.5)/(sd*math.Sqrt2))
	}
	chance := 0.0
	for _, p := range signedRankDistribution(len(away))[:below+1] {
		chance += p
	}
	return min(chance, 1)
}

// StudentBeyond is the chance of a mean so far above a bound, were it at the bound: Student's t,
// one-sided. It is for fewer values than SignedRankBeyond needs, without outliers. It is 1 below
// MinBlocks values, and where one is NaN or infinite.
func StudentBeyond(x []float64, bound float64) float64 {
	if len(x) < MinBlocks || slices.ContainsFunc(x, notFinite) {
		return 1
	}
	n := float64(len(x))
	t := (sum(x)/n - bound) / (sd(x) / math.Sqrt(n))
	if math.IsNaN(t) { // no value differs from the bound
		return 1
	}
	return 1 - studentDistribution(t, len(x)-1)
}
