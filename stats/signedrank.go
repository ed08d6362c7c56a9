package stats

import (
	"math"
	"slices"
)

// exactBlocks is the largest sample whose signed-rank distribution is
// computed exactly. Above it the normal approximation picks the same rank, or
// its neighbour.
const exactBlocks = 60

// HodgesLehmann estimates the centre of x by the pseudo-median, the median of
// the Walsh averages (x[i]+x[j])/2 with i <= j, and gives the two-sided
// signed-rank interval that covers at least 95 %.
//
// The coverage is exact for independent values that are symmetric about their
// centre, whatever their spread and tails. Skewed values have a pseudo-median
// too, between their mean and their median; it is that which is estimated.
//
// ok is false below MinBlocks values, with the estimate and infinite ends, and
// where x is empty or holds NaN or an infinity, with nothing known.
// Memory grows with the square of len(x).
func HodgesLehmann(x []float64) (centre Interval, ok bool) {
	if len(x) == 0 || slices.ContainsFunc(x, notFinite) {
		return unknown(), false
	}
	walsh := walshAverages(x)
	value := medianOfSorted(walsh)
	rank, _ := criticalRank(len(x))
	if rank < 0 {
		return unbounded(value), false
	}
	return Interval{Value: value, Low: walsh[rank], High: walsh[len(walsh)-1-rank]}, true
}

// Location is the centre of a metric over blocks. A quantity that is positive
// by nature (a rate, a time) varies by factors: its logarithms are centred and
// taken back. A quantity that may be zero (a loss, a count) is centred as it
// is, and so is a positive one where a block measured zero or less.
// ok is as for HodgesLehmann.
func Location(x []float64, positive bool) (Interval, bool) {
	if !positive || slices.ContainsFunc(x, notPositive) {
		return HodgesLehmann(x)
	}
	logs := make([]float64, len(x))
	for i, v := range x {
		logs[i] = math.Log(v)
	}
	centre, ok := HodgesLehmann(logs)
	return centre.through(math.Exp), ok
}

// walshAverages are the means of all pairs, each value with itself included,
// in increasing order.
func walshAverages(x []float64) []float64 {
	averages := make([]float64, 0, len(x)*(len(x)+1)/2)
	for i, a := range x {
		for _, b := range x[i:] {
			averages = append(averages, a/2+b/2)
		}
	}
	slices.Sort(averages)
	return averages
}

func medianOfSorted(x []float64) float64 {
	middle := len(x) / 2
	if len(x)%2 == 1 {
		return x[middle]
	}
	return x[middle-1]/2 + x[middle]/2
}

// criticalRank is the largest w for which the signed-rank statistic W+ of n
// values is w or less with probability at most 2.5 %, and that probability.
// The interval runs from the Walsh average of that index to the one as far
// from the end. w is -1 where there is none, below MinBlocks.
func criticalRank(n int) (w int, probability float64) {
	if n > exactBlocks {
		return approximateRank(n)
	}
	sum := 0.0
	for w, p := range signedRankDistribution(n) {
		if sum+p > 0.025 {
			return w - 1, sum
		}
		sum += p
	}
	return -1, 0
}

// signedRankDistribution gives P(W+ = w) for w = 0 to n(n+1)/2, where W+ is
// the sum of those of the ranks 1 to n that a fair coin picks. Halving is
// exact in binary, so the probabilities are exact up to n = 50 or so.
func signedRankDistribution(n int) []float64 {
	p := make([]float64, n*(n+1)/2+1)
	p[0] = 1
	for rank := 1; rank <= n; rank++ {
		for w := rank * (rank + 1) / 2; w >= 0; w-- {
			p[w] /= 2
			if w >= rank {
				p[w] += p[w-rank] / 2
			}
		}
	}
	return p
}

// approximateRank is criticalRank by the normal approximation, with the
// continuity correction.
func approximateRank(n int) (w int, probability float64) {
	size := float64(n)
	mean := size * (size + 1) / 4
	sd := math.Sqrt(size * (size + 1) * (2*size + 1) / 24)
	rank := math.Floor(mean - normalQuantile(0.975)*sd - 0.5)
	return int(rank), 0.5 * math.Erfc((mean-rank-0.5)/(sd*math.Sqrt2))
}

func notFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

func notPositive(x float64) bool { return !(x > 0) || math.IsInf(x, 1) }
