package traffic

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tare/test/labtest"
)

// durations draws over the whole range, as likely small as large.
func durations(t *rapid.T) []time.Duration {
	one := rapid.Custom(func(t *rapid.T) time.Duration {
		shift := rapid.IntRange(0, 36).Draw(t, "bits")
		return time.Duration(rapid.Int64Range(0, 1<<shift).Draw(t, "value"))
	})
	return rapid.SliceOfN(one, 1, 3000).Draw(t, "samples")
}

func TestQuantileIsThatOfTheSortedSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := durations(t)
		h := NewHistogram()
		sum := 0.0
		for _, d := range samples {
			h.Record(d)
			sum += float64(d)
		}
		slices.Sort(samples)
		n := float64(len(samples))
		for _, q := range []float64{0.01, 0.1, 0.5, 0.9, 0.99, 0.999} {
			got, ok := h.Quantile(q)
			if supported := n*(1-q) >= 10-1e-6; ok != supported {
				t.Fatalf("quantile %v of %d samples: given %v, want %v", q, len(samples), ok, supported)
			}
			if !ok {
				continue
			}
			rank := max(int(math.Ceil(q*n-1e-6)), 1)
			want := samples[rank-1]
			if diff := math.Abs(float64(got - want)); diff > 0.001*float64(want) {
				t.Fatalf("quantile %v of %d samples = %d, want %d within 0.1 %%", q, len(samples), got, want)
			}
		}
		if mean, _ := h.Mean(); math.Abs(float64(mean)-sum/n) > 1 {
			t.Fatalf("mean %v, want %v", mean, sum/n)
		}
		least, _ := h.Min()
		most, _ := h.Max()
		if least != samples[0] || most != samples[len(samples)-1] {
			t.Fatalf("range %v to %v, want %v to %v", least, most, samples[0], samples[len(samples)-1])
		}
	})
}

func TestMergeIsTheSameAsRecordingAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, left, right := NewHistogram(), NewHistogram(), NewHistogram()
		for _, d := range durations(t) {
			all.Record(d)
			if rapid.Bool().Draw(t, "left") {
				left.Record(d)
			} else {
				right.Record(d)
			}
		}
		left.Merge(right)
		if !slices.Equal(left.buckets, all.buckets) {
			t.Fatal("the merged buckets differ from those of all samples")
		}
		labtest.Equal(t, "count", left.count, all.count)
		labtest.Equal(t, "sum", left.sum, all.sum)
		labtest.Equal(t, "min", left.min, all.min)
		labtest.Equal(t, "max", left.max, all.max)
	})
}

func TestHistogramKeepsWhatIsOutOfRange(t *testing.T) {
	h := NewHistogram()
	for range 99 {
		h.Record(500 * time.Second)
	}
	h.Record(-time.Second)
	if p50, ok := h.Quantile(0.5); !ok || p50 != 500*time.Second {
		t.Errorf("median %v, want the largest value for samples beyond the range", p50)
	}
	if least, _ := h.Min(); least != 0 {
		t.Errorf("least %v, want a negative duration to count as 0", least)
	}
	if _, ok := NewHistogram().Mean(); ok {
		t.Error("an empty histogram gives a mean")
	}
}

func TestRecordAllocatesNothing(t *testing.T) {
	h := NewHistogram()
	d := time.Duration(1)
	if n := testing.AllocsPerRun(1000, func() { h.Record(d); d = d*3/2 + 1 }); n != 0 {
		t.Errorf("%v allocations per record", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	h := NewHistogram()
	for i := range b.N {
		h.Record(time.Duration(20_000 + i&0xffff))
	}
}

func TestHistogramIsEmptyAfterReset(t *testing.T) {
	h, other := NewHistogram(), NewHistogram()
	for n := range 1000 {
		h.Record(time.Duration(n*n) * time.Microsecond)
		other.Record(time.Millisecond)
	}
	h.Reset()
	h.Merge(other)
	other.Merge(NewHistogram())
	for _, of := range []*Histogram{h, other} {
		least, _ := of.Min()
		most, _ := of.Max()
		middle, _ := of.Quantile(0.5)
		labtest.Equal(t, "count", of.Count(), 1000)
		labtest.Equal(t, "smallest", least, time.Millisecond)
		labtest.Equal(t, "largest", most, time.Millisecond)
		labtest.Equal(t, "median", middle, time.Millisecond)
	}
}

// hey keeps a million samples, divides the sum of all by their number, and
// gives percentiles of the first ones only.
func TestHeyInflatesTheMeanPastAMillion(t *testing.T) {
	h := NewHistogram()
	const each = 1_000_000
	for _, latency := range []time.Duration{time.Millisecond, 3 * time.Millisecond, 5 * time.Millisecond} {
		for range each {
			h.Record(latency)
		}
	}
	mean, _ := h.Mean()
	p50, _ := h.Quantile(0.5)
	p90, _ := h.Quantile(0.9)
	if mean != 3*time.Millisecond || h.Count() != 3*each {
		t.Errorf("mean %v of %d", mean, h.Count())
	}
	for got, want := range map[time.Duration]time.Duration{p50: 3 * time.Millisecond, p90: 5 * time.Millisecond} {
		if math.Abs(float64(got)/float64(want)-1) > 0.001 {
			t.Errorf("percentile %v, want %v", got, want)
		}
	}
}

// neper printed percentiles as 0 where a value was beyond its histogram
// (google/neper PR #98).
func TestNeperPrintsZeroPastTheHistogram(t *testing.T) {
	h := NewHistogram()
	for range 100 {
		h.Record(200 * time.Second)
	}
	if p50, ok := h.Quantile(0.5); !ok || p50 < 100*time.Second {
		t.Errorf("p50 of times beyond the histogram is %v, %t", p50, ok)
	}
}
