package result

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// Params are what a cell was measured with, by name: the axes of Axes, and
// parameters of the cell's network. In files a number is a number and a word is
// a word; in memory a number may be of any of Go's types, so they are read by the
// methods alone.
type Params map[string]any

// Number is a parameter as a number; 0: it has none, or no number.
func (p Params) Number(name string) float64 { return Number(p[name]) }

// Count is a parameter as a whole number; 0: it has none, or no number.
func (p Params) Count(name string) int { return int(Number(p[name])) }

// Text is a parameter in full: equal texts, equal values. Empty: it has none.
func (p Params) Text(name string) string { return Text(p[name]) }

// Has reports whether a parameter is known.
func (p Params) Has(name string) bool { return p[name] != nil }

// Linked reports whether the hosts were joined by links with a rate, a delay or a loss:
// each frame counts there, so that interfaces cut them (nic frames).
func (p Params) Linked() bool {
	return slices.ContainsFunc(planned(), func(a Axis) bool { return a.Frames && p.Number(a.Name) > 0 })
}

// AtOnce is how many flows, connections or workers there were; 0: it is not
// known.
func (p Params) AtOnce() float64 {
	for _, name := range []string{"connections", "flows", "workers"} {
		if n := p.Number(name); n > 0 {
			return n
		}
	}
	return 0
}

// Settings are the parameters of the cell's network: all that no axis is.
func (p Params) Settings() Settings {
	own := map[string]string{}
	for name := range p {
		if !slices.ContainsFunc(axes(), func(a Axis) bool { return a.Name == name }) {
			own[name] = p.Text(name)
		}
	}
	return MakeSettings(own)
}

// Number reads a number as this program or a file holds it; 0: it is none.
func Number(value any) float64 {
	switch n := value.(type) {
	case float64:
		return n
	case int:
		return float64(n)
	case int64:
		return float64(n)
	case uint64:
		return float64(n)
	case uint32:
		return float64(n)
	case uint16:
		return float64(n)
	}
	return 0
}

// Text writes a value of a parameter in full: equal texts, equal values.
func Text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return numberText(v)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error() // a value that no file can hold
	}
	return string(text)
}

// numberText writes a number in full, without an exponent where it is short.
func numberText(v float64) string {
	if size := math.Abs(v); size >= 1e15 || size < 1e-4 && v != 0 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
