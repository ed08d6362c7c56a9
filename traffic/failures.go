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

func (f *failures) add(step string, err error) {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		err = errno
	}
	for i := range f.used {
		if f.kinds[i].step == step && errors.Is(f.kinds[i].cause, err) {
			f.kinds[i].count++
			return
		}
	}
	if f.used == len(f.kinds) {
		f.others++
		return
	}
	f.kinds[f.used] = failure{step, err, 1}
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
