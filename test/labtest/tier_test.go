package labtest

import (
	"os"
	"strings"
	"testing"
)

// The Makefile selects tiers by the same expression as the tests.
func TestMakefileSelectsByTier(t *testing.T) {
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if line := "NOT_QUICK := " + NotQuick + "\n"; !strings.Contains(string(text), line) {
		t.Errorf("the Makefile has no line %q", line)
	}
}

// nameOnly is a test of another name, which keeps the failure.
type nameOnly struct {
	testing.TB
	name   string
	failed bool
}

func (n *nameOnly) Helper()               {}
func (n *nameOnly) Name() string          { return n.name }
func (n *nameOnly) Fatalf(string, ...any) { n.failed = true }

func TestQuickTestsStartNoLab(t *testing.T) {
	for name, refused := range map[string]bool{
		"TestQuick": true, "TestQuick/lab": true, "TestLaboratory": false, "TestLabUserX/y": false, "TestRealX": false, "TestDeepX": false, "BenchmarkX": false, "FuzzX": false,
	} {
		one := &nameOnly{name: name}
		if NeedsTier(one); one.failed != refused {
			t.Errorf("%s: refused %t, want %t", name, one.failed, refused)
		}
	}
}
