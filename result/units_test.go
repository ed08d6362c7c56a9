package result

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tare/test/labtest"
)

func TestParseBitsPerSecond(t *testing.T) {
	for text, want := range map[string]BitsPerSecond{
		"10gbit": 1e10, "100mbit": 1e8, "64kbit": 64e3, "1000bit": 1000, "2.5gbit": 2.5e9, "1bit": 1,
		" 10 GBit/s ": 1e10, "1e3mbit": 1e9, "0.5kbit": 500, "10g": 1e10, "100M": 1e8, "64K": 64e3, // the last as for iperf3 -b
	} {
		if got, err := ParseBitsPerSecond(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "10", "gbit", "10gb", "10gbyte", "-1gbit", "0bit", "0.5bit", "nanbit", "infgbit", "1e300gbit", "100000gbit", "10 20mbit", "10gg", "10G/s", "tenmbit",
	} {
		if got, err := ParseBitsPerSecond(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestBitsPerSecondString(t *testing.T) {
	for rate, want := range map[BitsPerSecond]string{
		1e10: "10gbit", 9.6e9: "9.6gbit", 1e6: "1mbit", 1500: "1.5kbit", 999: "999bit", 0: "0bit", 0.5: "0.5bit",
	} {
		if got := rate.String(); got != want {
			t.Errorf("%v bit/s is written %q, want %q", float64(rate), got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		rate := BitsPerSecond(rapid.Float64Range(1, 9e13).Draw(t, "rate"))
		if back, err := ParseBitsPerSecond(rate.String()); err != nil || back != rate {
			t.Fatalf("%v is written %q and read as %v, %v", float64(rate), rate.String(), float64(back), err)
		}
	})
}

func TestParseSeconds(t *testing.T) {
	for text, want := range map[string]Seconds{
		"60ms": 0.06, "2s": 2, "1m30s": 90, "5us": 5e-6, "24h": 86400, " 1s ": 1, "1ns": 1e-9,
	} {
		if got, err := ParseSeconds(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "60", "0s", "-1s", "25h", "ms", "1 s", "9999999h", "nans"} {
		if got, err := ParseSeconds(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestSecondsKeepNanoseconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := time.Duration(rapid.Int64Range(1, int64(24*time.Hour)).Draw(t, "ns"))
		if got := Seconds(span.Seconds()).Duration(); got != span {
			t.Fatalf("%v became %v", span, got)
		}
		back, err := ParseSeconds(span.String())
		if err != nil || back.Duration() != span {
			t.Fatalf("%v is read as %v, %v", span, back.Duration(), err)
		}
	})
}

func FuzzParseBitsPerSecond(f *testing.F) {
	f.Add("10gbit")
	f.Add("1.5e3 kbit/s")
	f.Fuzz(func(t *testing.T, text string) {
		rate, err := ParseBitsPerSecond(text)
		if err != nil {
			return
		}
		if !(rate >= 1 && rate < 1e14) {
			t.Fatalf("%q is read as %v", text, float64(rate))
		}
		if back, err := ParseBitsPerSecond(rate.String()); err != nil || back != rate {
			t.Fatalf("%q is read as %v and written as %s", text, float64(rate), rate)
		}
	})
}

func FuzzParseSeconds(f *testing.F) {
	f.Add("60ms")
	f.Add("1h2m3.5s")
	f.Fuzz(func(t *testing.T, text string) {
		span, err := ParseSeconds(text)
		if err == nil && (!(span > 0 && span <= 86400) || math.IsInf(float64(span), 0) || span.Duration() <= 0) {
			t.Fatalf("%q is read as %v", text, float64(span))
		}
	})
}

func TestQuantitiesAreNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, q := range Quantities() {
		found, ok := QuantityOf(q.Name)
		labtest.Equal(t, q.Name+": named before", seen[q.Name], false)
		labtest.Equal(t, q.Name+": found", ok, true)
		labtest.Equal(t, "what is found as "+q.Name, found, q)
		labtest.NotEqual(t, q.Name+": unit", q.Unit, "")
		if q.Better != Higher && q.Better != Lower {
			t.Errorf("%s: better is %q", q.Name, q.Better)
		}
		seen[q.Name] = true
	}
	if _, ok := QuantityOf("bogomips"); ok {
		t.Error("an unknown metric is found")
	}
}
