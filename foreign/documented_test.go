package foreign

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tare/result"
)

// The document names the tools that are read, those that are only named, and no others.
func TestDocumentNamesTheTools(t *testing.T) {
	document, err := os.ReadFile("../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(document), "## Export")
	reading, naming, _ := strings.Cut(text, "| named |")
	row := regexp.MustCompile(`(?m)^\| ([a-z0-9_-][^|]*) \|`)
	var read, named []string
	for _, m := range row.FindAllStringSubmatch(reading, -1) {
		if name, _, _ := strings.Cut(m[1], " "); name != "tool" {
			read = append(read, strings.TrimSuffix(name, ","))
		}
	}
	for _, m := range row.FindAllStringSubmatch(naming, -1) {
		named = append(named, strings.Split(m[1], ", ")...)
	}
	for _, of := range []struct {
		what        string
		said, known []string
	}{{"reads", read, Tools()}, {"names", named, result.Names(toolsNotRead(), func(u notRead) string { return u.tool })}} {
		slices.Sort(of.said)
		slices.Sort(of.known)
		if !slices.Equal(of.said, of.known) {
			t.Errorf("docs/import.md has %q, foreign %s %q", of.said, of.what, of.known)
		}
	}
}
