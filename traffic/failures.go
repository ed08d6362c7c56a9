package traffic

import (
	"errors"
	"syscall"
)

// failures counts failed connections by step and cause.
type failures struct {
	kinds  [16]failure
	used   int
	others int64 // causes for which there was no room
}

type failure struct {
	step  string
	cause error
	count int64
}

func (f *failures) add(step string, err error) { f.addAll(failure{step, err, 1}) }

// merge adds the counts of others.
func (f *failures) merge(o *failures) {
	for _, kind := range o.kinds[:o.used] {
		f.addAll(kind)
	}
	f.others += o.others
}

func (f *failures) addAll(of failure) {
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

// named gives the counts by "step: cause".
func (f *failures) named() map[string]int64 {
	names := map[string]int64{}
	for _, kind := range f.kinds[:f.used] {
		names[kind.step+": "+kind.cause.Error()] += kind.count
	}
	if f.others > 0 {
		names["other causes"] = f.others
	}
	return names
}
