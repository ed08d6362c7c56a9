package result

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// PlanAxes are the values that a plan gives to axes, by the axis's name. A value is a word, or
// a number in SI units as a float64. An axis that has none is as it comes.
type PlanAxes map[string][]any

// DefaultAxes are what a plan has that says nothing of them.
func DefaultAxes() PlanAxes { return PlanAxes{}.Completed() }

// Completed has the default of each axis that has no value.
func (p PlanAxes) Completed() PlanAxes {
	for _, a := range PlannedAxes() {
		if a.Default != nil && len(p[a.Name]) == 0 {
			p = p.With(a.Name, a.Default)
		}
	}
	return p
}

// With has these values of an axis, and no others of it; without any the axis is as it comes.
// The empty word is none. p stays as it is.
func (p PlanAxes) With(name string, values ...any) PlanAxes {
	with := PlanAxes{}
	maps.Copy(with, p)
	delete(with, name)
	if values = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil || v == "" }); len(values) > 0 {
		with[name] = values
	}
	return with
}

// check refuses what is neither a number nor a word.
func (p PlanAxes) check() error {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		for _, value := range p[name] {
			_, number := value.(float64)
			if _, word := value.(string); !word && !number {
				return fmt.Errorf("read %s of a plan: %v: write a number or a word", name, value)
			}
		}
	}
	return nil
}

// First is the first value of an axis; nil: it has none.
func (p PlanAxes) First(name string) any {
	if len(p[name]) == 0 {
		return nil
	}
	return p[name][0]
}

// Number is the first value of an axis as a number; 0: it has none, or no number.
func (p PlanAxes) Number(name string) float64 { return Number(p.First(name)) }

// Numbers are the values of an axis as numbers.
func (p PlanAxes) Numbers(name string) (all []float64) {
	for _, value := range p[name] {
		all = append(all, Number(value))
	}
	return all
}

// Word is the first value of an axis as text; empty: it has none.
func (p PlanAxes) Word(name string) string { return Text(p.First(name)) }

// Words are the values of an axis as text.
func (p PlanAxes) Words(name string) []string { return Names(p[name], Text) }

// Linked reports whether hosts are joined by links that count each frame.
func (p PlanAxes) Linked() bool {
	return slices.ContainsFunc(planned(), func(a Axis) bool { return a.Frames && len(p[a.Name]) > 0 })
}

// WithFlag has the values that the text of a flag gives to its axes: "1500,9000",
// "100mbit,delay=20ms". An axis of the flag that the text does not name has none.
func (p PlanAxes) WithFlag(flag, text string) (PlanAxes, error) {
	axes := slices.DeleteFunc(PlannedAxes(), func(a Axis) bool { return a.Flag != flag })
	for _, a := range axes {
		p = p.With(a.Name)
	}
	words := []string{text}
	if axes[0].Many {
		words = strings.Split(text, ",")
	}
	empty := true
	for _, word := range words {
		word = strings.TrimSpace(word)
		if word == "" {
			continue
		}
		empty = false
		a, value, values := axes[0], word, p[axes[0].Name]
		if name, set, named := strings.Cut(word, "="); named && len(axes) > 1 {
			at := slices.IndexFunc(axes[1:], func(a Axis) bool { return a.Name == name })
			if at < 0 {
				return p, fmt.Errorf("%q of a %s: it has %s", name, flag, enumerated(axes[1:]))
			}
			a, value, values = axes[1+at], set, nil
		}
		read, err := a.Read(value)
		if err != nil {
			return p, err
		}
		p = p.With(a.Name, append(slices.Clone(values), read)...)
	}
	if empty && len(axes) > 1 {
		return p, errors.New("it is empty: write a rate, for example 10gbit, or delay=20ms")
	}
	return p, nil
}

// enumerated is "delay, loss and reorder".
func enumerated(axes []Axis) string {
	names := Names(axes, func(a Axis) string { return a.Name })
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Written is a value of the axis as people write it: Read reads it.
func (a Axis) Written(value any) string {
	number, is := value.(float64)
	switch {
	case !is:
		return Text(value)
	case a.Unit == "bit/s":
		return BitsPerSecond(number).String()
	case a.Unit == "s":
		return Seconds(number).Duration().String()
	}
	return strconv.FormatFloat(number, 'f', -1, 64)
}

// PlanKey is what a plan in YAML calls the axis.
func (a Axis) PlanKey() string {
	if a.Key != "" {
		return a.Key
	}
	return a.Name
}

// takeAxes takes the axes out of a plan's keys. open gives the keys of a mapping, read the values
// that a key has. What is left is no axis.
func takeAxes[T any](keys map[string]T, open func(T) (map[string]T, error), read func(a Axis, key string, value T) ([]any, error)) (axes PlanAxes, err error) {
	axes = PlanAxes{}
	for _, a := range PlannedAxes() {
		if mapping, is := keys[a.In]; is && a.In != "" {
			inner, wrong := open(mapping)
			err = cmp.Or(err, wrong)
			delete(keys, a.In)
			maps.Copy(keys, inner)
		}
		for _, key := range a.keys() {
			value, is := keys[key]
			if !is {
				continue
			}
			delete(keys, key)
			values, wrong := read(a, key, value)
			if len(values) > 0 && len(axes[a.Name]) > 0 {
				wrong = fmt.Errorf("%s and %s are both in the plan: keep %s, which takes them all", a.PlanKey(), key, a.PlanKey())
			}
			err = cmp.Or(err, wrong)
			if len(values) > 0 {
				axes = axes.With(a.Name, values...)
			}
		}
	}
	return axes, err
}

// keys are those that set the axis in a plan's file.
func (a Axis) keys() []string {
	if a.Older != "" {
		return []string{a.PlanKey(), a.Older}
	}
	return []string{a.PlanKey()}
}

// reader reads a value of an axis.
type reader func(word string) (any, error)

func readWord(word string) (any, error) { return word, nil }

func readSize(word string) (any, error) {
	size, err := ParseSize(word)
	return float64(size), err
}

// readMTU reads a number of bytes without a unit, since in an MTU some mean 1000 by k, others 1024.
func readMTU(word string) (any, error) {
	if digits, short := strings.CutSuffix(strings.ToLower(word), "k"); short {
		if n, err := strconv.Atoi(digits); err == nil {
			return nil, fmt.Errorf("%q: write the number of bytes: %d or %d", word, n*1000, n<<10)
		}
	}
	return readSize(word)
}

func readRate(word string) (any, error) {
	rate, err := ParseBitsPerSecond(word)
	return float64(rate), err
}

func readSpan(word string) (any, error) {
	span, err := ParseSeconds(word)
	return float64(span), err
}

func readShare(word string) (any, error) { return ParseShare(word) }

// readVersion reads a version of IP.
func readVersion(word string) (any, error) {
	version, err := strconv.Atoi(word)
	if err != nil {
		return nil, fmt.Errorf("version of IP %q: give 4, 6 or 4,6", word)
	}
	return float64(version), nil
}

// readCount reads how many of something there are.
func readCount(word string) (any, error) {
	n, err := strconv.Atoi(word)
	if err != nil {
		return nil, fmt.Errorf("%q is no number: give one, or several, as in 1,2,4", word)
	}
	return float64(n), nil
}
