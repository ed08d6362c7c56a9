package stats

import (
	"math"
	"slices"
)

// RatioOfSums is the sum of the numerators over the sum of the denominators,
// one of each per block: a cost per work (CPU seconds per Gbit) in which a
// block counts by the work that it did.
//
// The interval is the jackknife's over blocks, on the logarithm of the ratio,
// with Student's t of n - 1 degrees of freedom (Miller, The jackknife, a
// review, Biometrika 61, 1974). It covers 95 % where blocks differ by a tenth,
// and 94 % where they differ by a third.
//
// ok is false below MinBlocks blocks, or where the sums without one of the
// blocks are not both positive, with the ratio and infinite ends; and, with
// nothing known, where the sums of all are not positive and finite or the two
// lists differ in length.
func RatioOfSums(numerators, denominators []float64) (ratio Interval, ok bool) {
	top, bottom := sum(numerators), sum(denominators)
	if len(numerators) != len(denominators) || notPositive(top) || notPositive(bottom) {
		return unknown(), false
	}
	value := top / bottom
	n := len(numerators)
	if n < MinBlocks {
		return unbounded(value), false
	}
	without := make([]float64, n)
	for i := range without {
		ratio := (top - numerators[i]) / (bottom - denominators[i])
		if notPositive(ratio) || bottom <= denominators[i] {
			return unbounded(value), false
		}
		without[i] = math.Log(ratio)
	}
	blocks := float64(n)
	deviation := sd(without) * (blocks - 1) / math.Sqrt(blocks)
	factor := math.Exp(studentQuantile(0.975, n-1) * deviation)
	return Interval{Value: value, Low: value / factor, High: value * factor}, true
}

func sum(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

// sd is the standard deviation of a sample of two values or more.
func sd(x []float64) float64 {
	mean := sum(x) / float64(len(x))
	squares := 0.0
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(x)-1))
}

// Median is the middle of some values, or the mean of the two in the middle; NaN:
// there are none.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(x))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
