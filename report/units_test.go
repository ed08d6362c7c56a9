package report

import (
	"math"
	"testing"
)

func TestScale(t *testing.T) {
	for _, test := range []struct {
		unit   string
		column []float64
		want   []string
	}{
		{"bit/s", []float64{12.34e9, 0.9e9}, []string{"12.3 Gbit/s", "0.900 Gbit/s"}},
		{"bit/s", []float64{93.94e6}, []string{"93.9 Mbit/s"}},
		{"bit/s", []float64{999.96e6}, []string{"1.00 Gbit/s"}},
		{"s", []float64{12.3e-6, 1.2e-6}, []string{"12.3 us", "1.20 us"}},
		{"s", []float64{0.0012, 3e-6}, []string{"1.20 ms", "0.00300 ms"}},
		{"s", []float64{2}, []string{"2.00 s"}},
		{"1/s", []float64{813456, 12}, []string{"813 k/s", "0.0120 k/s"}},
		{"bytes", []float64{1448}, []string{"1.45 kB"}},
		{"ratio", []float64{0.0231}, []string{"2.31 %"}},
		{"count", []float64{3.0000000001, 2.5}, []string{"3", "2.50"}},
		{"furlongs", []float64{1234}, []string{"1230 furlongs"}},
		{"s", []float64{0}, []string{"0 us"}},
		{"s", []float64{math.NaN(), math.Inf(1), 1e-6}, []string{"- us", "- us", "1.00 us"}},
	} {
		s := scaleFor(test.unit, test.column...)
		for i, v := range test.column {
			if got := s.withUnit(v); got != test.want[i] {
				t.Errorf("%v %s of %v is %q, want %q", v, test.unit, test.column, got, test.want[i])
			}
		}
	}
}

func TestDifference(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	us := scale{"us", 1e-6}
	for _, test := range []struct {
		in           scale
		value        float64
		low, high    *float64
		number, ends string
	}{
		{scaleFor("ratio"), 0.182, p(0.169), p(0.196), "+18.2", "[16.9, 19.6]"},
		{scaleFor("ratio"), -0.003, p(-0.012), p(0.005), "-0.3", "[-1.2, 0.5]"},
		{scaleFor("ratio"), 12.5, p(11), p(14.04), "+1250", "[1100, 1404]"},
		{scaleFor("ratio"), -0.0001, nil, nil, "0.0", ""},
		{scaleFor("ratio"), 0.0001, nil, nil, "0.0", ""},
		{us, 3.14e-6, p(2.9e-6), p(3.4e-6), "+3.14", "[2.90, 3.40]"},
		{us, 13.14e-6, p(2.9e-6), p(30e-6), "+13.1", "[2.9, 30.0]"},
		{us, 1e-6, p(math.Inf(-1)), p(1), "-", ""},
		{us, math.NaN(), nil, nil, "-", ""},
	} {
		number, ends := test.in.difference(test.value, test.low, test.high)
		if number != test.number || ends != test.ends {
			t.Errorf("%v is %q %q, want %q %q", test.value, number, ends, test.number, test.ends)
		}
	}
}

func TestDifferenceScaleKeepsMicroseconds(t *testing.T) {
	for size, want := range map[float64]string{330e-9: "us", -60e-9: "us", 20e-9: "ns", 4e-6: "us", 2e-3: "ms"} {
		if got := differenceScale("s", size).unit; got != want {
			t.Errorf("differences of %v s are read in %s, want %s", size, got, want)
		}
	}
}
