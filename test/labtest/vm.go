package labtest

import (
	"os"
	"testing"
)

// InVM is the environment variable that test/vm sets in its virtual machines.
const InVM = "TARE_TEST_VM"

// NeedsVM fails a test that runs on somebody's machine: it changes what only a machine of
// its own may change.
func NeedsVM(t testing.TB) {
	t.Helper()
	if os.Getenv(InVM) == "" {
		t.Fatalf("%s runs in a virtual machine only: make vm", t.Name())
	}
}
