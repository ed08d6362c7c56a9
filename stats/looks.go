package stats

import "math"

// Spend is how much of an error rate may be spent by the time that a share of all that
// may be measured has been (0 < share <= 1): hardly any at first, all of it at the
// end. It gives nearly the bounds of O'Brien and Fleming (Lan and DeMets, Discrete
// sequential boundaries for clinical trials, Biometrika 70, 1983).
func Spend(rate, share float64) float64 {
	return math.Erfc(normalQuantile(1-rate/2) / math.Sqrt(2*share))
}
