package stats

import (
	"math"
	"slices"
)

// exactPairs is the largest product of two sample sizes whose rank-sum
// distribution is computed exactly.
const exactPairs = 2500

// Shift estimates by how much y lies above x, two samples that have no pairs, by
// the median of all differences y[j]-x[i] (Hodges and Lehmann, 1963), and gives
// the two-sided rank-sum interval (Mann and Whitney, 1947) that covers at least
// 95 %.
//
// The coverage is exact for independent values of one shape, whatever it is. ok
// is false where either sample is too small for an interval (four and four are
// the least), with the estimate and infinite ends, and where one is empty or
// holds NaN or an infinity, with nothing known.
func Shift(x, y []float64) (shift Interval, ok bool) {
	if len(x) == 0 || len(y) == 0 || slices.ContainsFunc(x, notFinite) || slices.ContainsFunc(y, notFinite) {
		return unknown(), false
	}
	differences := make([]float64, 0, len(x)*len(y))
	for _, a := range x {
		for _, b := range y {
			differences = append(differences, b-a)
		}
	}
	slices.Sort(differences)
	value := medianOfSorted(differences)
	rank, _ := criticalRankSum(len(x), len(y))
	if rank < 0 {
		return unbounded(value), false
	}
	return Interval{Value: value, Low: differences[rank], High: differences[len(differences)-1-rank]}, true
}

// criticalRankSum is the largest u for which the statistic U of samples of m and
// n values is u or less with probability at most 2.5 %; -1 where there is none.
func criticalRankSum(m, n int) (u int, probability float64) {
	if m*n > exactPairs {
		mean := float64(m*n) / 2
		sd := math.Sqrt(float64(m*n) * float64(m+n+1) / 12)
		return int(math.Floor(mean - normalQuantile(0.975)*sd - 0.5)), 0.025
	}
	sum := 0.0
	for u, p := range rankSumDistribution(m, n) {
		if sum+p > 0.025 {
			return u - 1, sum
		}
		sum += p
	}
	return -1, 0
}

// rankSumDistribution gives the probability of each value of U: that of drawing
// m of the ranks 1 to m+n so that they exceed the least sum by so much.
func rankSumDistribution(m, n int) []float64 {
	most := m * n
	// ways[k][u] is how many choices of k ranks so far have that excess.
	ways := make([][]float64, m+1)
	for k := range ways {
		ways[k] = make([]float64, most+1)
	}
	ways[0][0] = 1
	total := 1.0
	for rank := 1; rank <= m+n; rank++ {
		for k := min(rank, m); k >= 1; k-- {
			excess := rank - k // of this rank over the k-th smallest
			for u := most; u >= excess; u-- {
				ways[k][u] += ways[k-1][u-excess]
			}
		}
		if rank > n {
			total *= float64(rank) / float64(rank-n)
		}
	}
	p := ways[m]
	for u := range p {
		p[u] /= total
	}
	return p
}
