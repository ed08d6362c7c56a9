package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A container never runs another binary than the one that made its lab.
func TestAnotherBinaryInItsPlaceIsRefused(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := isSelf(path); err != nil {
		t.Error(err)
	}
	other := filepath.Join(t.TempDir(), "tare")
	for _, what := range []string{"removed", "replaced"} {
		if err := isSelf(other); err == nil || !strings.Contains(err.Error(), "start it again") {
			t.Errorf("%s: %v", what, err)
		}
		if err := os.WriteFile(other, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
