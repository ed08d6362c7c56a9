package result

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Rate is how fast a workload is asked to send, in the unit that it was
// written in. In JSON it is the bare number, as everything there.
type Rate struct {
	Value float64
	Unit  string // "bit/s" or "1/s"; empty where only a number was given
}

// Units of a rate.
const (
	unitBits  = "bit/s"
	unitCount = "1/s"
)

// countUnits are the suffixes of packets, transactions and requests per
// second, the longest first.
var countUnits = []suffixed{
	{"mpps", 1e6}, {"kpps", 1e3}, {"pps", 1}, {"m/s", 1e6}, {"k/s", 1e3}, {"/s", 1},
}

// mostCount is beyond what any path carries, per second.
const mostCount = 1e11

// ParseRate reads a rate as ParseBitsPerSecond does, or a count per second:
// 250kpps, 1.5mpps, 5000/s, 10k/s.
func ParseRate(text string) (Rate, error) {
	word := strings.ToLower(strings.TrimSpace(text))
	if _, short := inUnits(word, shortUnits); short || strings.Contains(word, "bit") {
		bits, err := ParseBitsPerSecond(word)
		return Rate{float64(bits), unitBits}, err
	}
	rate, ok := inUnits(word, countUnits)
	switch {
	case ok && rate > 0 && rate < mostCount:
		return Rate{rate, unitCount}, nil
	case ok:
		return Rate{}, fmt.Errorf("read rate %q: it must be above zero and below %g/s", text, mostCount)
	}
	return Rate{}, fmt.Errorf("read rate %q: write a number and bit, kbit, mbit or gbit as in 100mbit, or a count per second as in 250kpps or 5000/s", text)
}

// String writes the rate so that ParseRate reads it back.
func (r Rate) String() string {
	switch r.Unit {
	case unitBits:
		return BitsPerSecond(r.Value).String()
	case unitCount:
		return strconv.FormatFloat(r.Value, 'f', -1, 64) + "/s"
	}
	return strconv.FormatFloat(r.Value, 'f', -1, 64)
}

// IsZero reports whether no rate was given.
func (r Rate) IsZero() bool { return r.Value == 0 }

// MarshalJSON writes the number alone: what it counts depends on the workload.
func (r Rate) MarshalJSON() ([]byte, error) { return json.Marshal(r.Value) }

// UnmarshalJSON reads the number alone.
func (r *Rate) UnmarshalJSON(data []byte) error {
	r.Unit = ""
	return json.Unmarshal(data, &r.Value)
}

// MarshalYAML writes the rate with its unit.
func (r Rate) MarshalYAML() (any, error) {
	if r.Unit == "" {
		return r.Value, nil
	}
	return r.String(), nil
}

// UnmarshalYAML reads a rate with its unit, or a bare number.
func (r *Rate) UnmarshalYAML(node *yaml.Node) error {
	if value, err := strconv.ParseFloat(node.Value, 64); err == nil {
		*r = Rate{Value: value}
		return nil
	}
	return parseNode(node, r, ParseRate)
}
