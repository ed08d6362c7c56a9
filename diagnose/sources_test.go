package diagnose

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tare/probe"
)

// TestWhatIsReadIsUsed holds that every source that probes read is one by which a rule
// finds something: what nobody looks at costs time around every window, and a fault that
// only it shows has no name.
func TestWhatIsReadIsUsed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			code.Write(text)
		}
	}
	// They are shown with a result, for the whole machine or as a driver names them.
	shown := []string{"/proc/softirqs", "/proc/net/softnet_stat", "ethtool -S", "/proc/self/task/*/schedstat"}
	for _, p := range probe.All() {
		if !strings.Contains(code.String(), `"`+p.Source+`"`) && !slices.Contains(shown, p.Source) {
			t.Errorf("%s is read (%s) and used by no rule", p.Source, p.Doc)
		}
	}
}
