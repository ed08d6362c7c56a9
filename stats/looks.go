package stats

import "math"

// Spend is how much of an error rate may be spent by the time that a share of all that
// may be measured has been (0 < share <= 1): hardly any at first, all of it at the
// end. It gives nearly the bounds of O'Brien and Fleming (Lan and DeMets, Discrete
// sequential boundaries for clinical trials, Biometrika 70, 1983).
func Spend(rate, share float64) float64 {
	return math.Erfc(normalQuantile(1-rate/2) / math.Sqrt(2*share))
}

// Student is the mean with the interval of Student's t that misses it at the given
// rate. It is for rates that the signed-rank interval of so few values cannot have. ok
// is false below MinBlocks values, and where one is NaN or infinite.
func Student(x []float64, rate float64) (Interval, bool) {
	if len(x) < MinBlocks {
		return unknown(), false
	}
	n := float64(len(x))
	mean, half := sum(x)/n, studentQuantile(1-rate/2, len(x)-1)*sd(x)/math.Sqrt(n)
	if notFinite(mean) || notFinite(half) {
		return unknown(), false
	}
	return around(mean, half), true
}
