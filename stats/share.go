package stats

import (
	"maps"
	"slices"
)

// Share is a share of a whole, both of which are known, with the interval that blocks
// give it: parts and wholes are what each block has of the part and of the whole, and a
// block counts if it has both. The interval is the signed-rank interval of what the
// blocks have of the part beyond that share of their whole. A share may be negative.
//
// ok is false below MinBlocks blocks, and where the whole is not positive, with the
// share and infinite ends.
func Share(share, whole float64, parts, wholes map[int]float64) (Interval, bool) {
	var beyond []float64
	for _, block := range slices.Sorted(maps.Keys(parts)) {
		if of, both := wholes[block]; both {
			beyond = append(beyond, parts[block]-share*of)
		}
	}
	apart, ok := HodgesLehmann(beyond)
	if !ok || notPositive(whole) || notFinite(share) {
		return unbounded(share), false
	}
	return Interval{Value: share, Low: share + min(0, apart.Low/whole), High: share + max(0, apart.High/whole)}, true
}
