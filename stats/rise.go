package stats

import (
	"math"
	"slices"
)

// Rise is how much a series rises from one value to the next, by the median of the slopes
// between all pairs (Theil, 1950; Sen, 1968), and the two-sided chance that one without a trend rises
// or falls as steadily (Mann, 1945, with ties as of Kendall, 1970), by the normal distribution. The
// chance is 1 for fewer than eight values, and where one is NaN or infinite.
func Rise(x []float64) (slope, chance float64) {
	const least = 8
	if len(x) < least || slices.ContainsFunc(x, notFinite) {
		return 0, 1
	}
	var slopes []float64
	sum := 0.0
	for i, a := range x {
		for j := i + 1; j < len(x); j++ {
			slopes = append(slopes, (x[j]-a)/float64(j-i))
			switch {
			case x[j] > a:
				sum++
			case x[j] < a:
				sum--
			}
		}
	}
	n, variance := float64(len(x)), 0.0
	variance = n * (n - 1) * (2*n + 5)
	for _, t := range tied(x) {
		variance -= t * (t - 1) * (2*t + 5)
	}
	if variance <= 0 {
		return 0, 1
	}
	z := max(0, math.Abs(sum)-1) / math.Sqrt(variance/18)
	slices.Sort(slopes)
	return medianOfSorted(slopes), math.Erfc(z / math.Sqrt2)
}

// tied is how often each value is there.
func tied(x []float64) []float64 {
	counts := map[float64]float64{}
	for _, v := range x {
		counts[v]++
	}
	var all []float64
	for _, t := range counts {
		all = append(all, t)
	}
	return all
}

// RankSumChance is the two-sided chance of samples that lie so far apart, were they of one
// distribution: the rank-sum test, exact up to 2,500 pairs where no values are tied. It is 1 where
// either is empty, or holds NaN or an infinity.
func RankSumChance(x, y []float64) float64 {
	if len(x) == 0 || len(y) == 0 || slices.ContainsFunc(x, notFinite) || slices.ContainsFunc(y, notFinite) {
		return 1
	}
	above := 0.0
	for _, a := range x {
		for _, b := range y {
			switch {
			case b > a:
				above++
			case a == b:
				above += 0.5
			}
		}
	}
	m, n := float64(len(x)), float64(len(y))
	u := min(above, m*n-above)
	if len(x)*len(y) > exactPairs {
		sd := math.Sqrt(m * n * (m + n + 1) / 12)
		return min(1, math.Erfc(max(0, m*n/2-u-0.5)/(sd*math.Sqrt2)))
	}
	chance := 0.0
	for _, p := range rankSumDistribution(len(x), len(y))[:int(math.Ceil(u))+1] {
		chance += p
	}
	return min(1, 2*chance)
}
