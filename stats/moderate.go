package stats

import "math"

// leastSpreads is of how many comparisons the spreads must be known to say how alike they are.
const leastSpreads = 3

// Spreads is what comparisons that were measured side by side have in common of their noise: a
// variance, and how many degrees of freedom that knowledge is worth for each of them; none, where
// they are too few or too unlike.
type Spreads struct{ usual Variance }

// SpreadsOf finds what variances have in common: their logarithms differ by chance, and beyond it by as
// much as the noise of the comparisons does (Smyth, Linear models and empirical Bayes methods, 2004).
func SpreadsOf(all []Variance) Spreads {
	var known []Variance
	var logs []float64
	for _, v := range all {
		if v.Of > 0 && v.Freedom >= 1 {
			known = append(known, v)
			logs = append(logs, math.Log(v.Of)-digamma(v.Freedom/2)+math.Log(v.Freedom/2))
		}
	}
	if len(known) < leastSpreads {
		return Spreads{}
	}
	n := float64(len(known))
	mean, beyond, pooled := sum(logs)/n, sd(logs)*sd(logs), 0.0
	for _, v := range known {
		beyond -= trigamma(v.Freedom/2) / n
		pooled += v.Freedom
	}
	if beyond <= 0 { // they differ by chance alone
		return Spreads{Variance{math.Exp(mean), pooled}}
	}
	half := trigammaInverse(beyond)
	return Spreads{Variance{math.Exp(mean + digamma(half) - math.Log(half)), min(2*half, pooled)}}
}

// Moderate is a variance in the light of what the comparisons beside it have in common: the mean of
// both, weighted by their degrees of freedom.
func (s Spreads) Moderate(own Variance) Variance {
	freedom := own.Freedom + s.usual.Freedom
	if freedom == 0 {
		return own
	}
	return Variance{(own.Of*own.Freedom + s.usual.Of*s.usual.Freedom) / freedom, freedom}
}

// digamma is the derivative of the logarithm of the gamma function: Abramowitz and Stegun, 6.3.5 and 6.3.18.
func digamma(x float64) float64 {
	below := 0.0
	for ; x < 10; x++ {
		below -= 1 / x
	}
	s := 1 / (x * x)
	return below + math.Log(x) - 0.5/x - s*(1.0/12-s*(1.0/120-s/252))
}

// trigamma is the derivative of digamma: Abramowitz and Stegun, 6.4.6 and 6.4.12.
func trigamma(x float64) float64 {
	below := 0.0
	for ; x < 10; x++ {
		below += 1 / (x * x)
	}
	s := 1 / (x * x)
	return below + 1/x + s/2 + s/x*(1.0/6-s*(1.0/30-s/42))
}

// trigammaInverse is the x whose trigamma is y > 0: by halving, since trigamma falls.
func trigammaInverse(y float64) float64 {
	low, high := 1e-6, 1e6
	for range 100 {
		if middle := math.Sqrt(low * high); trigamma(middle) > y {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Sqrt(low * high)
}
