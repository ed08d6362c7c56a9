package foreign

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The document names the tools that are read, and no others.
func TestDocumentNamesTheTools(t *testing.T) {
	document, err := os.ReadFile("../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	reading, _, _ := strings.Cut(string(document), "## Export")
	var named []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z0-9_-]+),? ?(?:[^|]*)\|`).FindAllStringSubmatch(reading, -1) {
		if row[1] != "tool" {
			named = append(named, row[1])
		}
	}
	slices.Sort(named)
	tools := Tools()
	slices.Sort(tools)
	if !slices.Equal(named, tools) {
		t.Errorf("docs/import.md names %q, foreign reads %q", named, tools)
	}
}
