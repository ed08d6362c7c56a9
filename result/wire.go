package result

import (
	"errors"
	"fmt"
	"strings"
)

// Wire is what the links between hosts do to frames, besides their rate. A host sends over
// its own link: a round trip is delayed twice.
type Wire struct {
	Delay   Seconds `json:"delay,omitempty" yaml:"delay,omitempty"`     // of each frame, one way
	Loss    float64 `json:"loss,omitempty" yaml:"loss,omitempty"`       // share of the frames that are lost, at random
	Reorder float64 `json:"reorder,omitempty" yaml:"reorder,omitempty"` // share of the frames that are not delayed, and so overtake others
}

// IsZero reports whether the links do nothing.
func (w Wire) IsZero() bool { return w == Wire{} }

// Params are the axes of a cell that was measured over the wire.
func (w Wire) Params() Params {
	p := Params{}
	for name, value := range map[string]float64{"delay": float64(w.Delay), "loss": w.Loss, "reorder": w.Reorder} {
		if value > 0 {
			p[name] = value
		}
	}
	return p
}

// String writes the wire as ParseLinks reads it.
func (w Wire) String() string {
	var words []string
	if w.Delay > 0 {
		words = append(words, "delay="+w.Delay.Duration().String())
	}
	if w.Loss > 0 {
		words = append(words, "loss="+Percent(w.Loss))
	}
	if w.Reorder > 0 {
		words = append(words, "reorder="+Percent(w.Reorder))
	}
	return strings.Join(words, ",")
}

// ParseLinks reads a comma list of rates, and what the links do besides: "1gbit",
// "1gbit,10gbit", "100mbit,delay=20ms,loss=0.1%,reorder=1%", "delay=5ms".
func ParseLinks(text string) (rates []BitsPerSecond, w Wire, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, w, errors.New("it is empty: write a rate, for example 10gbit, or delay=20ms")
	}
	for _, word := range strings.Split(text, ",") {
		name, value, named := strings.Cut(strings.TrimSpace(word), "=")
		if !named {
			rate, err := ParseBitsPerSecond(name)
			if err != nil {
				return nil, w, err
			}
			rates = append(rates, rate)
			continue
		}
		switch name {
		case "delay":
			w.Delay, err = ParseSeconds(value)
		case "loss":
			w.Loss, err = ParseShare(value)
		case "reorder":
			w.Reorder, err = ParseShare(value)
		default:
			err = fmt.Errorf("%q of a link: it has delay, loss and reorder", name)
		}
		if err != nil {
			return nil, w, err
		}
	}
	return rates, w, nil
}
