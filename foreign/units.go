package foreign

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// parseNumber reads a number that is finite and not below zero; commas may part
// its thousands.
func parseNumber(text string) (float64, bool) {
	value, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), ",", ""), 64)
	return value, err == nil && sound(value)
}

// sound reports whether a number can be in a result.
func sound(value float64) bool {
	return value >= 0 && value < noNumber // NaN is neither
}

// nothingsLeftOut warns of numbers that are not finite, if there are any.
func nothingsLeftOut(count int) []string {
	if count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of its numbers are nan or infinite, of nothing or of no time: they are left out", count)}
}

// kilo is the factor of a prefix whose K is 1000.
func kilo(prefix string) float64 { return prefixed(prefix, 1000) }

// kibi is the factor of a prefix whose K is 1024.
func kibi(prefix string) float64 { return prefixed(prefix, 1024) }

func prefixed(prefix string, k float64) float64 {
	if prefix == "" {
		return 1
	}
	return math.Pow(k, float64(1+strings.IndexByte("KMGT", strings.ToUpper(prefix)[0])))
}

var span = expressionOf(`^\s*([\d.,]+)\s*(ns|usec|us|µs|μs|msec|ms|sec|s|min|m|h)\s*$`)

// parseSpan reads a time with its unit, in seconds.
func parseSpan(text string) (float64, bool) {
	m := span.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	value, ok := parseNumber(m[1])
	return seconds(value, unitOf(m[2])), ok
}

// unitOf is the unit of time that a word names, 0 for any other word.
func unitOf(word string) time.Duration {
	switch word {
	case "ns":
		return time.Nanosecond
	case "us", "usec", "µs", "μs":
		return time.Microsecond
	case "ms", "msec":
		return time.Millisecond
	case "s", "sec":
		return time.Second
	case "m", "min":
		return time.Minute
	case "h":
		return time.Hour
	}
	return 0
}

// seconds is so many of a unit. It divides where it can: 3 ms is 0.003, not
// 0.0030000000000000001.
func seconds(value float64, unit time.Duration) float64 {
	if unit > 0 && unit < time.Second {
		return value / float64(time.Second/unit)
	}
	return value * unit.Seconds()
}
