package traffic

import (
	"errors"
	"syscall"
)

// Failures counts failed connections by step and cause.
type Failures struct {
	kinds  [16]failure
	used   int
	others int64 // causes for which there was no room
}

type failure struct {
	step  string
	cause error
	count int64
}

// Add counts one failure of a step. It allocates nothing.
func (f *Failures) Add(step string, err error) { f.addAll(failure{step, err, 1}) }

// merge adds the counts of others.
func (f *Failures) merge(o *Failures) {
	for _, kind := range o.kinds[:o.used] {
		f.addAll(kind)
	}
	f.others += o.others
}

func (f *Failures) addAll(of failure) {
	var errno syscall.Errno
	if errors.As(of.cause, &errno) {
		of.cause = errno
	}
	for i := range f.used {
		if f.kinds[i].step == of.step && errors.Is(f.kinds[i].cause, of.cause) {
			f.kinds[i].count += of.count
			return
		}
	}
	if f.used == len(f.kinds) {
		f.others += of.count
		return
	}
	f.kinds[f.used] = of
	f.used++
}

// Named gives the counts by "step: cause".
func (f *Failures) Named() map[string]int64 {
	names := map[string]int64{}
	for _, kind := range f.kinds[:f.used] {
		names[kind.step+": "+kind.cause.Error()] += kind.count
	}
	if f.others > 0 {
		names["other causes"] = f.others
	}
	return names
}
