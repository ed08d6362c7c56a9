package labtest

import (
	"testing"
	"time"
)

// awaitMost is more than any event of a test takes on a machine that is not stuck.
const awaitMost = 2 * time.Minute

// Await looks again and again whether something is so that sends no event.
func Await(t testing.TB, what string, is func() bool) {
	t.Helper()
	limit := time.After(awaitMost)
	for look := time.NewTicker(5 * time.Millisecond); !is(); {
		select {
		case <-look.C:
		case <-limit:
			t.Fatalf("not within %v: %s", awaitMost, what)
		}
	}
}
