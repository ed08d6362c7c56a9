package iperf3

import (
	"sync"
	"testing"
	"time"
)

// watched is a value that some goroutines change and others wait for.
type watched[T any] struct {
	mu      sync.Mutex
	value   T
	changed chan struct{}
}

func (w *watched[T]) change(how func(*T)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	how(&w.value)
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}

func (w *watched[T]) get() T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.value
}

// await waits until the value is enough, for a minute at most.
func (w *watched[T]) await(t testing.TB, what string, enough func(T) bool) {
	t.Helper()
	for limit := time.After(time.Minute); ; {
		w.mu.Lock()
		done := enough(w.value)
		if w.changed == nil {
			w.changed = make(chan struct{})
		}
		changed := w.changed
		w.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("not within a minute: %s: %v", what, w.get())
		}
	}
}
