package labtest

import (
	"strings"
	"testing"
	"time"
)

// Generous is how long a test waits for what comes at once where the machine has time.
const Generous = time.Minute

// Timed reports whether a test holds real time against bounds. Only deep ones do: the
// others wait for what must happen. A deep test can do others anew, with their bounds.
func Timed(t testing.TB) bool { return strings.HasPrefix(t.Name(), "TestDeep") }

// InTime fails a deep test in which something took too long.
func InTime(t testing.TB, what string, took, most time.Duration) {
	t.Helper()
	if Timed(t) {
		AtMost(t, "time of "+what, took, most)
	}
}
