package result

import (
	"slices"
	"strings"
	"testing"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]Rate{
		"100mbit": {100e6, unitBits}, "1gbit/s": {1e9, unitBits},
		"250kpps": {250e3, unitCount}, "1.5mpps": {1.5e6, unitCount}, "5000/s": {5000, unitCount}, "10k/s": {10e3, unitCount}, "7pps": {7, unitCount},
	} {
		got, err := ParseRate(text)
		if err != nil || got != want {
			t.Errorf("%q reads as %+v (%v), want %+v", text, got, err, want)
		}
		if back, err := ParseRate(got.String()); err != nil || back != got {
			t.Errorf("%q is written as %q, which reads as %+v (%v)", text, got, back, err)
		}
	}
	for _, text := range []string{"", "fast", "-5/s", "0/s", "1e300/s", "5", "12 parsecs", "NaN/s"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q reads as %+v, want an error", text, got)
		}
	}
}

func TestParseSizes(t *testing.T) {
	for text, want := range map[string][]int{
		"1:16:*2":         {1, 2, 4, 8, 16},
		"8:20:4":          {8, 12, 16, 20},
		"64":              {64},
		"1K,64,1K,1:3:+1": {1, 2, 3, 64, 1024},
		"4K:16K:*4":       {4096, 16384},
	} {
		if got, err := ParseSizes(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q reads as %v (%v), want %v", text, got, err, want)
		}
	}
	for text, word := range map[string]string{
		"": "number of bytes", "8:4:*2": "below the first", "1:9:*1": "2 or more", "1:9": "first:last:step",
		"1:1M:1": "64 at most", "2G": "at most 1G", "-1": "above zero", "9999999999999999G": "above zero",
	} {
		if got, err := ParseSizes(text); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q reads as %v (%v), want an error with %q", text, got, err, word)
		}
	}
}

func FuzzParseSizes(f *testing.F) {
	f.Add("8:256K:*2")
	f.Add("1,2,3:9:+2")
	f.Fuzz(func(t *testing.T, text string) {
		sizes, err := ParseSizes(text)
		if err == nil && (len(sizes) == 0 || len(sizes) > maxSizes || sizes[0] < 1 || !slices.IsSorted(sizes)) {
			t.Errorf("%q reads as %v", text, sizes)
		}
	})
}
