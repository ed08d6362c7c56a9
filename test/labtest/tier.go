package labtest

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

// NotQuick matches the names of the tests that `make quick` leaves out: those
// that touch kernel objects or need root (TestLab...), those that need a Debian
// package, a real engine, npm or a browser (TestReal...), those of `make deep`, which
// sweep over everything, measure or take most of a minute (TestDeep...), and those of
// a kernel in a virtual machine (TestVM...).
const NotQuick = "^Test(Lab|Real|Deep|VM)"

// quickRun is the environment variable of a process that runs quick tests only.
const quickRun = "TARE_TEST_QUICK"

// MarkQuickRun reports whether this process runs quick tests only, as
// `make quick` does, and marks the processes that it starts as such.
func MarkQuickRun() (quick bool, err error) {
	flag.Parse()
	if flag.Lookup("test.skip").Value.String() != NotQuick {
		return false, nil
	}
	return true, os.Setenv(quickRun, "1")
}

// OfQuickRun reports whether a test process that runs quick tests only started
// this process.
func OfQuickRun() bool { return os.Getenv(quickRun) != "" }

// NeedsTier fails a test whose name claims that it is quick. Benchmarks and
// fuzz targets are of no tier.
func NeedsTier(t testing.TB) {
	t.Helper()
	if strings.HasPrefix(t.Name(), "Test") && !regexp.MustCompile(NotQuick).MatchString(t.Name()) {
		t.Fatalf("%s is not quick: it measures, or starts a lab, an engine or tare itself; rename it TestLab..., TestReal..., TestDeep... or TestVM... (docs/testing.md)", t.Name())
	}
}

// NotTested begins what a test logs of a part that it could not test on this
// machine. The verdict prints it, also of a test that passes.
const NotTested = "NOT TESTED:"

// SecondTry begins what a test logs when it tries something again. The verdict
// prints and counts it: a test that repeats itself in silence hides a defect.
const SecondTry = "SECOND TRY:"

// TryAgain logs why a test is about to try something once more.
func TryAgain(t testing.TB, why string, args ...any) {
	t.Helper()
	t.Logf(SecondTry+" "+why, args...)
}
