package result

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// suffixed is a unit as it is written behind a number.
type suffixed struct {
	suffix string
	factor float64
}

// inUnits reads a number with one of the units, which it gives times its
// factor.
func inUnits(word string, units []suffixed) (value float64, ok bool) {
	for _, unit := range units {
		if digits, found := strings.CutSuffix(word, unit.suffix); found {
			value, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
			return value * unit.factor, err == nil
		}
	}
	return 0, false
}

// bitUnits are the rates' suffixes, the longest first so that "kbit" is not
// read as "bit".
var bitUnits = []suffixed{
	{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1},
}

// shortUnits are the suffixes as iperf3 -b takes them. With "/s" behind them they count no bits.
var shortUnits = []suffixed{{"g", 1e9}, {"m", 1e6}, {"k", 1e3}}

// ParseBitsPerSecond reads a rate as tc writes it: 10gbit, 100mbit, 64kbit,
// 1000bit, with "/s" or not, or as iperf3 takes it: 10G, 100M. The rate must be positive and below 100 Tbit/s.
func ParseBitsPerSecond(text string) (BitsPerSecond, error) {
	word := strings.ToLower(strings.TrimSpace(text))
	rate, ok := inUnits(strings.TrimSuffix(word, "/s"), bitUnits)
	if !ok {
		rate, ok = inUnits(word, shortUnits)
	}
	switch {
	case ok && rate >= 1 && rate < 1e14:
		return BitsPerSecond(rate), nil
	case ok:
		return 0, fmt.Errorf("read rate %q: it must be at least 1bit and below 100000gbit", text)
	}
	return 0, fmt.Errorf("read rate %q: write a number and bit, kbit, mbit or gbit, as in 10gbit, or 10G", text)
}

// String writes the rate with the largest unit that reads back as the same.
func (r BitsPerSecond) String() string {
	for _, unit := range bitUnits {
		if value := float64(r) / unit.factor; value >= 1 && value*unit.factor == float64(r) {
			return strconv.FormatFloat(value, 'f', -1, 64) + unit.suffix
		}
	}
	return strconv.FormatFloat(float64(r), 'f', -1, 64) + "bit"
}

// MarshalYAML writes the rate with its unit.
func (r BitsPerSecond) MarshalYAML() (any, error) { return r.String(), nil }

// UnmarshalYAML reads a rate with its unit.
func (r *BitsPerSecond) UnmarshalYAML(node *yaml.Node) error {
	return parseNode(node, r, ParseBitsPerSecond)
}

// parseNode reads a value of YAML by its parser. An error names the line.
func parseNode[T any](node *yaml.Node, into *T, parse func(text string) (T, error)) (err error) {
	if *into, err = parse(node.Value); err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	return nil
}

// ParseSeconds reads a time span as Go writes it: 60ms, 2s, 1m30s. It must be
// positive and at most a day.
func ParseSeconds(text string) (Seconds, error) {
	span, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		return 0, fmt.Errorf("read time %q: write a number and us, ms, s or m, as in 60ms", text)
	}
	if span <= 0 || span > 24*time.Hour {
		return 0, fmt.Errorf("read time %q: it must be above zero and at most 24h", text)
	}
	return Seconds(span.Seconds()), nil
}

// Duration is the time span as the standard library has it.
func (s Seconds) Duration() time.Duration {
	return time.Duration(float64(s)*float64(time.Second) + 0.5)
}

// MarshalYAML writes the time span with its unit.
func (s Seconds) MarshalYAML() (any, error) { return s.Duration().String(), nil }

// UnmarshalYAML reads a time span with its unit; "0s" means none.
func (s *Seconds) UnmarshalYAML(node *yaml.Node) error {
	if node.Value == "0s" || node.Value == "0" {
		*s = 0
		return nil
	}
	return parseNode(node, s, ParseSeconds)
}

// ParseShare reads 2% or 0.02.
func ParseShare(text string) (float64, error) {
	value, err := ParseRatio(text)
	if err != nil || math.IsNaN(value) || value <= 0 || value >= 1 {
		return 0, fmt.Errorf("read share %q: write it as 2%% or 0.02, above 0 and below 100 %%", text)
	}
	return value, nil
}

// Percent writes a share as ParseShare reads it: 0.1%.
func Percent(share float64) string { return strconv.FormatFloat(100*share, 'g', 6, 64) + "%" }

// ParseRatio reads any number, in percent or not.
func ParseRatio(text string) (float64, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	value, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		value /= 100
	}
	return value, err
}
