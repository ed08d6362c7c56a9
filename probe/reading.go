package probe

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"tare/result"
)

// Counts is what the sources of one scope had counted at one moment.
type Counts struct {
	sources map[string]map[string]float64
	unread  []result.Unread
}

// Read reads every counter of a scope once. A source that can't be read is
// named and does not affect the others.
func Read(root string, scope Scope) Counts {
	r := NewReader(root, scope)
	counts := r.Read()
	if err := r.Close(); err != nil {
		counts.unread = append(counts.unread, result.Unread{Source: string(scope), Reason: reason(err)})
	}
	return counts
}

// Reader reads the counters of a scope again and again. It may be used by
// several goroutines.
type Reader struct {
	scope Scope
	mu    sync.Mutex
	view  *view
}

// NewReader makes a reader. It opens what it reads once. Of a namespace it must
// do so, by its first Read, on a thread that is inside; later ones may be on
// any thread, and still read that.
func NewReader(root string, scope Scope) *Reader { return &Reader{scope: scope, view: newView(root)} }

// Read reads every counter.
func (r *Reader) Read() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.view.dumped, r.view.queued = nil, nil
	c := Counts{sources: map[string]map[string]float64{}}
	for _, p := range All() {
		if p.Scope != r.scope || p.count == nil {
			continue
		}
		counted, err := p.count(r.view)
		if err != nil {
			c.unread = append(c.unread, result.Unread{Source: p.Source, Reason: reason(err)})
			continue
		}
		c.sources[p.Source] = counted
	}
	r.view.sealed = r.scope == Namespace
	return c
}

// Close closes what the reader has opened.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.view.close()
}

// Since is what was counted from an earlier read to this one, in the order of
// the probes; what has not changed is left out. A device that is new has
// counted since it was made; one that has gone is left out.
func (c Counts) Since(earlier Counts) ([]result.Reading, []result.Unread) {
	var all []result.Reading
	for _, p := range All() {
		before, had := earlier.sources[p.Source]
		now, has := c.sources[p.Source]
		if p.count == nil || !had || !has {
			continue
		}
		changed := map[string]float64{}
		for name, value := range now {
			by := value - before[name]
			if by < 0 {
				by += p.wraps
			}
			if by != 0 {
				changed[name] = by
			}
		}
		if len(changed) > 0 {
			all = append(all, result.Reading{Source: p.Source, Counts: changed})
		}
	}
	return all, Unread(earlier.unread, c.unread)
}

// Look reads the states of a scope.
func Look(root string, scope Scope) ([]result.State, []result.Unread) {
	var states []result.State
	var unread []result.Unread
	v := newView(root)
	for _, p := range All() {
		if p.Scope != scope || p.look == nil {
			continue
		}
		values, err := p.look(v)
		switch {
		case err != nil:
			unread = append(unread, result.Unread{Source: p.Source, Reason: reason(err)})
		case len(values) > 0:
			states = append(states, result.State{Source: p.Source, Values: values})
		}
	}
	if err := v.close(); err != nil {
		unread = append(unread, result.Unread{Source: string(scope), Reason: reason(err)})
	}
	return states, unread
}

// Unread joins lists of what could not be read and names each once.
func Unread(lists ...[]result.Unread) []result.Unread {
	var all []result.Unread
	for _, u := range slices.Concat(lists...) {
		all = result.AddOnce(all, u)
	}
	return all
}

// reason is why a source could not be read, and what would help.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "this user may not read it: run as root"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EPROTONOSUPPORT), errors.Is(err, unix.ENOTSUP):
		return "this kernel does not have it, or has not loaded it"
	}
	return strings.TrimSpace(err.Error())
}
