package stats

import "math"

// studentQuantile is the value that Student's t of so many degrees of freedom
// (1 or more) stays below with the given probability, 0.5 <= probability < 1.
// The relative error is below 1e-9 for probabilities up to 0.9999.
//
// The distribution function is concave above zero, so Newton's steps from the
// normal quantile, which lies below, rise to the root and never pass it.
func studentQuantile(probability float64, freedom int) float64 {
	t := normalQuantile(probability)
	for range 100 {
		step := (probability - studentDistribution(t, freedom)) / studentDensity(t, freedom)
		t += step
		if step <= 1e-12*t {
			break
		}
	}
	return t
}

// studentDistribution is the probability that Student's t of so many degrees
// of freedom stays below t. For whole degrees of freedom it is a
// finite sum: Abramowitz and Stegun, 26.7.3 and 26.7.4.
func studentDistribution(t float64, freedom int) float64 {
	angle := math.Atan(t / math.Sqrt(float64(freedom)))
	sin, cos := math.Sincos(angle)
	even := freedom%2 == 0
	first, term := 3, sin*cos
	if even {
		first, term = 2, sin
	}
	sum := 0.0
	for k := first; k <= freedom; k += 2 {
		sum += term
		term *= cos * cos * float64(k-1) / float64(k)
	}
	if even {
		return 0.5 + sum/2
	}
	return 0.5 + (angle+sum)/math.Pi
}

func studentDensity(t float64, freedom int) float64 {
	n := float64(freedom)
	above, _ := math.Lgamma((n + 1) / 2)
	below, _ := math.Lgamma(n / 2)
	return math.Exp(above-below-(n+1)/2*math.Log1p(t*t/n)) / math.Sqrt(n*math.Pi)
}

// normalQuantile is the value that a standard normal variable stays below
// with the given probability.
func normalQuantile(probability float64) float64 {
	return math.Sqrt2 * math.Erfinv(2*probability-1)
}
