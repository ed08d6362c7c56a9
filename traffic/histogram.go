package traffic

import (
	"math"
	"math/bits"
	"time"
)

// Buckets of the histogram: one per nanosecond below 2*halfBuckets, then
// halfBuckets per octave. A bucket is then at most 1/512 of its value wide and
// its middle at most 1/1024 away from any value in it.
const (
	halfBits    = 9
	halfBuckets = 1 << halfBits
	topBit      = 37 // values below 2^37 ns = 137 s
	bucketCount = halfBuckets * (topBit - halfBits + 1)

	// TailSamples is how many samples must lie beyond a percentile for it to
	// be given.
	TailSamples = 10
)

// Histogram records durations from 1 ns to 137 s with a relative error of at
// most 0.1 %. Longer ones count as the longest bucket; Max and Mean are exact
// for all. A negative duration counts as zero. Record allocates nothing.
type Histogram struct {
	buckets  []uint64
	count    int64
	sum      uint64
	min, max time.Duration
}

// NewHistogram makes an empty histogram whose memory is already mapped.
func NewHistogram() *Histogram {
	h := &Histogram{buckets: make([]uint64, bucketCount), min: math.MaxInt64}
	const wordsPerPage = 4096 / 8
	for i := 0; i < len(h.buckets); i += wordsPerPage {
		h.buckets[i] = 0
	}
	return h
}

// Record adds one duration.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	h.buckets[bucketOf(uint64(d))]++
	h.count++
	h.sum += uint64(d)
	h.min = min(h.min, d)
	h.max = max(h.max, d)
}

// bucketOf gives the bucket of v nanoseconds.
func bucketOf(v uint64) int {
	octave := bits.Len64(v >> (halfBits + 1))
	if octave > topBit-halfBits-1 {
		return bucketCount - 1
	}
	return octave<<halfBits + int(v>>octave)
}

// middleOf gives the middle of bucket i in nanoseconds.
func middleOf(i int) time.Duration {
	if i < 2*halfBuckets {
		return time.Duration(i)
	}
	octave := i>>halfBits - 1
	low := uint64(i-octave<<halfBits) << octave
	return time.Duration(low + uint64(1)<<octave/2)
}

// Reset empties it. It takes no longer than its values are far apart.
func (h *Histogram) Reset() {
	clear(h.used())
	h.count, h.sum, h.min, h.max = 0, 0, math.MaxInt64, 0
}

// used are the buckets from the smallest value to the largest.
func (h *Histogram) used() []uint64 {
	if h.count == 0 {
		return nil
	}
	return h.buckets[bucketOf(uint64(h.min)) : bucketOf(uint64(h.max))+1]
}

// Merge adds all that other holds.
func (h *Histogram) Merge(other *Histogram) {
	if other.count == 0 {
		return
	}
	first := bucketOf(uint64(other.min))
	for i, n := range other.used() {
		h.buckets[first+i] += n
	}
	h.count += other.count
	h.sum += other.sum
	h.min = min(h.min, other.min)
	h.max = max(h.max, other.max)
}

// Count is the number of durations recorded.
func (h *Histogram) Count() int64 { return h.count }

// Mean is the exact mean; false without samples.
func (h *Histogram) Mean() (time.Duration, bool) {
	if h.count == 0 {
		return 0, false
	}
	return time.Duration(math.Round(float64(h.sum) / float64(h.count))), true
}

// Max is the exact largest; false without samples.
func (h *Histogram) Max() (time.Duration, bool) { return h.max, h.count > 0 }

// Min is the exact smallest; false without samples.
func (h *Histogram) Min() (time.Duration, bool) { return h.min, h.count > 0 }

// rounding is what floating point adds: 10/(1-0.9) is a little above 100.
const rounding = 1e-6

// Supports reports whether so many samples can support the quantile q: ten at
// least must lie beyond it.
func Supports(samples int64, q float64) bool { return float64(samples)*(1-q) >= TailSamples-rounding }

// Quantile gives the duration that the fraction q of all samples does not
// exceed (nearest rank), 0 < q < 1. It gives false when fewer than
// 10/(1-q) samples were recorded: they can't support it.
func (h *Histogram) Quantile(q float64) (time.Duration, bool) {
	if !(q > 0 && q < 1) || !Supports(h.count, q) {
		return 0, false
	}
	return h.ranked(q)
}

// Median is the median of the samples, however few they are: it is for the values of
// single slots, of which there are many. It gives false when there is no sample.
func (h *Histogram) Median() (time.Duration, bool) {
	if h.count == 0 {
		return 0, false
	}
	return h.ranked(0.5)
}

// ranked is the duration of the sample at a quantile of one at least.
func (h *Histogram) ranked(q float64) (time.Duration, bool) {
	rank := int64(math.Ceil(q*float64(h.count) - rounding))
	var seen uint64
	for i, n := range h.buckets {
		if seen += n; seen >= uint64(max(rank, 1)) {
			if i == bucketCount-1 {
				return h.max, true
			}
			return min(max(middleOf(i), h.min), h.max), true
		}
	}
	return h.max, true
}
