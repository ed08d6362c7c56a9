package workload

import (
	"math"
	"slices"
)

const (
	// leastSteps is how many intervals a window must have for its steadiness to
	// be computed.
	leastSteps = 5
	// steady is the largest coefficient of variation, and the largest change of
	// level, of a window that counts as stable.
	steady = 0.1
)

// addSteadiness adds how steady the throughput was over a window's intervals:
// throughput_min, throughput_max and throughput_cv, the standard deviation
// over the mean. The window is unstable if the cv is above 0.1, or if the level
// changed by more than 0.1 of the mean, once and clearly.
func addSteadiness(t *Tally, steps []float64) {
	if len(steps) < leastSteps {
		return
	}
	mean, deviation := spread(steps)
	if mean <= 0 {
		return
	}
	t.Metrics["throughput_min"], t.Metrics["throughput_max"] = slices.Min(steps), slices.Max(steps)
	t.Metrics["throughput_cv"] = deviation / mean
	switch {
	case deviation > steady*mean:
		t.Warnings = append(t.Warnings, "unstable: the throughput's standard deviation over the window's intervals is above 10 % of its mean")
	case changed(steps, steady*mean):
		t.Warnings = append(t.Warnings, "unstable: the throughput's level changed by more than 10 % within the window")
	}
}

// changed reports whether the steps fall into two parts, of two at least, whose
// means differ by more than least and by more than three times the standard
// error of that difference.
func changed(steps []float64, least float64) bool {
	for n := 2; n <= len(steps)-2; n++ {
		before, a := spread(steps[:n])
		after, b := spread(steps[n:])
		noise := math.Sqrt(a*a/float64(n) + b*b/float64(len(steps)-n))
		if difference := math.Abs(after - before); difference > least && difference > 3*noise {
			return true
		}
	}
	return false
}

// spread is the mean and the standard deviation of a sample.
func spread(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return mean, math.Sqrt(deviation)
}
