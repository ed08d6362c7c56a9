package report

import (
	"math"
	"strconv"
	"strings"

	"tare/result"
)

// scale is the unit in which a column is read: one of it is size of the unit
// in which it is stored.
type scale struct {
	unit string
	size float64
}

// scales are the units that people read, by the unit that is stored, the
// largest first.
func scales() map[string][]scale {
	return map[string][]scale{
		"bit/s": {{"Tbit/s", 1e12}, {"Gbit/s", 1e9}, {"Mbit/s", 1e6}, {"kbit/s", 1e3}, {"bit/s", 1}},
		"s":     {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}},
		"1/s":   {{"M/s", 1e6}, {"k/s", 1e3}, {"1/s", 1}},
		"bytes": {{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"bytes", 1}},
		"ratio": {{"%", 0.01}},
		"count": {{"", 1}},
	}
}

// scaleFor is the scale of a column: the one in which its largest value, by
// magnitude, is at least 1. A unit that is not known is read as it is stored.
func scaleFor(unit string, values ...float64) scale {
	known := scales()[unit]
	if known == nil {
		return scale{unit: clip(result.Plain(unit), 10), size: 1}
	}
	largest := 0.0
	for _, v := range values {
		if !math.IsInf(v, 0) {
			largest = math.Max(largest, math.Abs(v))
		}
	}
	if !(largest > 0) {
		return known[len(known)/2]
	}
	for _, s := range known {
		if largest >= 0.9995*s.size { // what rounds to 1 is 1
			return s
		}
	}
	return known[len(known)-1]
}

// differenceScale is the scale of a column of differences. Those of times are
// read in microseconds down to 50 ns, as the times themselves mostly are.
func differenceScale(unit string, values ...float64) scale {
	s := scaleFor(unit, values...)
	for _, v := range values {
		if s.unit == "ns" && math.Abs(v) >= 50e-9 {
			return scale{unit: "us", size: 1e-6}
		}
	}
	return s
}

// show writes a stored value in the scale with three significant digits.
func (s scale) show(stored float64) string {
	v := stored / s.size
	if whole := math.Round(v); s.unit == "" && math.Abs(v-whole) < 1e-6 && math.Abs(v) < 1e6 {
		return fixed(whole, 0)
	}
	return figure(v)
}

// withUnit is show with the unit behind it.
func (s scale) withUnit(stored float64) string {
	return strings.TrimSpace(s.show(stored) + " " + s.unit)
}

// rough is a size with its unit and two significant digits.
func (s scale) rough(stored float64) string {
	v, err := strconv.ParseFloat(strconv.FormatFloat(stored/s.size, 'g', 2, 64), 64)
	if err != nil {
		return s.withUnit(stored)
	}
	return strings.TrimSpace(strconv.FormatFloat(v, 'g', -1, 64) + " " + s.unit)
}

// figure writes a number with three significant digits; "-" is shown for one
// that is not finite.
func figure(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	if v == 0 {
		return "0"
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	size := math.Abs(rounded)
	if err != nil || size >= 1e6 || size < 1e-3 {
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	decimals := max(0, 2-int(math.Floor(math.Log10(size))))
	return strconv.FormatFloat(rounded, 'f', decimals, 64)
}

// difference writes a difference with an explicit sign, and the ends of its
// interval as "[1.1, 2.9]", all three with the same decimals. The ends are
// "" where there are none.
func (s scale) difference(value float64, low, high *float64) (number, ends string) {
	all := []float64{value / s.size}
	if low != nil && high != nil {
		all = append(all, *low/s.size, *high/s.size)
	}
	largest := 0.0
	for _, v := range all {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "-", ""
		}
		largest = math.Max(largest, math.Abs(v))
	}
	decimals := s.decimals(largest)
	number = fixed(all[0], decimals)
	if all[0] > 0 && strings.Trim(number, "0.") != "" {
		number = "+" + number
	}
	if len(all) == 3 {
		ends = "[" + fixed(all[1], decimals) + ", " + fixed(all[2], decimals) + "]"
	}
	return number, ends
}

// decimals are those of a difference: no percent is finer than a tenth. -1
// asks for an exponent.
func (s scale) decimals(largest float64) int {
	switch {
	case largest >= 99999.5:
		return -1
	case largest >= 99.95:
		return 0
	case largest >= 9.995, s.unit == "%":
		return 1
	}
	return 2
}

// fixed writes v with so many decimals, and a zero without a minus.
func fixed(v float64, decimals int) string {
	if decimals < 0 {
		return strconv.FormatFloat(v, 'e', 1, 64)
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// percent writes a ratio as a percentage with one decimal: "2.0 %".
func percent(ratio float64) string {
	if math.IsNaN(ratio) || math.IsInf(ratio, 0) {
		return "- %"
	}
	if math.Abs(ratio) >= 1000 {
		return strconv.FormatFloat(100*ratio, 'e', 1, 64) + " %"
	}
	return fixed(100*ratio, 1) + " %"
}
