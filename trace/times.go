package trace

import "math/bits"

// buckets are those of bpf/path.bpf.c: linear in steps of 8 ns below 64 ns,
// eight in each octave above.
const buckets = 216

// Times are the durations of a leg, in ns.
type Times struct {
	Count  uint64
	Sum    uint64
	Order  uint64 // sum of the places among the legs of a way
	Bucket [buckets]uint32
}

func (t *Times) add(other *Times) {
	t.Count += other.Count
	t.Sum += other.Sum
	t.Order += other.Order
	for n, count := range other.Bucket {
		t.Bucket[n] += count
	}
}

// Mean is in ns; 0 of nothing.
func (t *Times) Mean() float64 {
	if t.Count == 0 {
		return 0
	}
	return float64(t.Sum) / float64(t.Count)
}

// Quantile is in ns, to within a bucket's eighth of an octave; 0 of nothing.
func (t *Times) Quantile(q float64) float64 {
	var all float64
	for _, count := range t.Bucket {
		all += float64(count)
	}
	want := q * all
	for n, count := range t.Bucket {
		if c := float64(count); c > 0 && want <= c {
			low, high := bounds(n)
			return low + (high-low)*want/c
		}
		want -= float64(count)
	}
	return 0
}

// middle are the buckets of the middle fifth, the first and the last.
func (t *Times) middle() (from, to int) {
	return bucketOf(uint32(t.Quantile(0.40))), bucketOf(uint32(t.Quantile(0.60)))
}

// scaleOf is how many there are in all for each that is in these buckets; 0: none is.
func (t *Times) scaleOf(from, to int) float64 {
	var in uint64
	for n := from; n <= to; n++ {
		in += uint64(t.Bucket[n])
	}
	if in == 0 {
		return 0
	}
	return float64(t.Count) / float64(in)
}

// bounds are those of a bucket, in ns.
func bounds(n int) (low, high float64) {
	if n < 8 {
		return float64(8 * n), float64(8*n + 8)
	}
	octave := uint64(64) << ((n - 8) / 8)
	step := float64(octave) / 8
	low = float64(octave) + step*float64((n-8)%8)
	return low, low + step
}

// bucketOf is the bucket of a duration in ns, as the programs compute it.
func bucketOf(ns uint32) int {
	if ns < 64 {
		return int(ns >> 3)
	}
	octave := bits.Len32(ns) - 1
	return 8 + (octave-6)*8 + int(ns>>(octave-3)&7)
}
