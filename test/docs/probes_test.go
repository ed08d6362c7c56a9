package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tare/probe"
)

// TestEveryProbeIsInTheTable: readers of a result find what each source counts.
func TestEveryProbeIsInTheTable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/result.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range probe.All() {
		if !strings.Contains(string(text), "`"+p.Source+"`") {
			t.Errorf("docs/result.md does not name %s, the source of %s", p.Source, p.Name)
		}
	}
}
